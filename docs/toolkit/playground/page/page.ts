/** The page of the playground: reads the fields, asks the worker, and shows its answers. */
import workerScript from 'playground:worker'
import { EXAMPLES } from '../examples.ts'
import type { CompareAnswer, CompareRequest } from '../messages.ts'
import { byId } from './elements.ts'
import { type LinkedDocuments, readFragment, writeFragment } from './link.ts'
import { type ResultEdits, resultSections } from './results.ts'

/** Waits until the reader pauses. */
const PAUSE_MS = 300
const LIMIT_MS = 30_000

const choice = byId('playground-example', HTMLSelectElement)
const fields = {
  old: byId('playground-old', HTMLTextAreaElement),
  new: byId('playground-new', HTMLTextAreaElement),
}
const results = byId('playground-results', HTMLElement)
const status = byId('playground-status', HTMLOutputElement)
const notice = byId('playground-notice', HTMLElement)
const share = byId('playground-share', HTMLButtonElement)

let lenses: Record<string, string> = {}
let values: Record<string, string> = {}

const edits: ResultEdits = {
  lenses: (change, text) => {
    lenses[change] = text
    compareSoon()
  },
  value: (translation, text) => {
    values[translation] = text
    compareSoon()
  },
  show: (document, line) => selectLine(fields[document], line),
}

function selectLine(field: HTMLTextAreaElement, line: number): void {
  const lines = field.value.split('\n')
  const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0)
  field.focus()
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0))
  // Lines do not wrap, so all have the same height.
  field.scrollTop = (field.scrollHeight / lines.length) * Math.max(0, line - 4)
}

let worker: Worker | undefined
let limit: ReturnType<typeof setTimeout> | undefined

/** Ends a comparison that is running: its answer is out of date. */
function stop(): void {
  clearTimeout(limit)
  worker?.terminate()
  worker = undefined
}

let idle: Worker | undefined

function startWorker(): Worker {
  const address = URL.createObjectURL(new Blob([workerScript], { type: 'text/javascript' }))
  const started = new Worker(address)
  URL.revokeObjectURL(address)
  return started
}

function compareNow(): void {
  stop()
  worker = idle ?? startWorker()
  idle = undefined
  const asked = worker
  status.textContent = 'Comparing…'
  const end = (answer: CompareAnswer) => {
    clearTimeout(limit)
    status.textContent = ''
    show(answer)
  }
  asked.onmessage = ({ data }: MessageEvent<CompareAnswer>) => {
    worker = undefined
    idle = asked
    end(data)
  }
  asked.onerror = (event) => {
    stop()
    end({ findings: [], failure: event.message })
  }
  limit = setTimeout(() => {
    stop()
    end({ findings: [], failure: `the comparison took longer than ${LIMIT_MS / 1000} seconds` })
  }, LIMIT_MS)
  const request: CompareRequest = { old: fields.old.value, next: fields.new.value, edits: { lenses, values } }
  asked.postMessage(request)
}

let pause: ReturnType<typeof setTimeout> | undefined

function compareSoon(): void {
  clearTimeout(pause)
  pause = setTimeout(compareNow, PAUSE_MS)
}

/** Replaces the results. The field that the reader edits keeps the focus and the selection. */
function show(answer: CompareAnswer): void {
  const active = document.activeElement
  const edited = active instanceof HTMLTextAreaElement && results.contains(active) ? active : undefined
  results.replaceChildren(...resultSections(answer, edits))
  if (!edited) return
  const same = [...results.querySelectorAll('textarea')].find(
    (each) => each.dataset.field === edited.dataset.field,
  )
  if (!same) return
  if (same.value !== edited.value) same.value = edited.value
  same.focus()
  same.setSelectionRange(edited.selectionStart, edited.selectionEnd)
}

function open({ old, next }: { readonly old: string; readonly next: string }): void {
  fields.old.value = old
  fields.new.value = next
  lenses = {}
  values = {}
  compareNow()
}

/** Opens what the address names: documents, an example, or the first example. */
async function openAddress(): Promise<void> {
  const named = /^#example=(\w+)$/.exec(location.hash)?.[1] ?? 'books'
  const name = EXAMPLES.has(named) ? named : 'books'
  let linked: LinkedDocuments | undefined
  notice.textContent = ''
  try {
    linked = await readFragment(location.hash)
  } catch {
    notice.textContent = 'The link is damaged, so an example is shown. Copy the complete link.'
  }
  notice.hidden = notice.textContent === ''
  choice.value = linked ? '' : name
  open(linked ?? EXAMPLES.get(name)!)
}

for (const [name, { title }] of EXAMPLES) choice.append(new Option(title, name))
choice.addEventListener('change', () => {
  history.replaceState(null, '', `#example=${choice.value}`)
  const chosen = EXAMPLES.get(choice.value)
  if (chosen) open(chosen)
})
for (const field of Object.values(fields))
  field.addEventListener('input', () => {
    choice.value = ''
    compareSoon()
  })
share.addEventListener('click', async () => {
  history.replaceState(null, '', await writeFragment({ old: fields.old.value, next: fields.new.value }))
  try {
    await navigator.clipboard.writeText(location.href)
    status.textContent = 'Link copied'
  } catch {
    status.textContent = 'Copy the link from the address bar.'
  }
})
addEventListener('hashchange', () => void openAddress())
byId('playground', HTMLElement).hidden = false
void openAddress()
