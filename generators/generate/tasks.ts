/**
 * The two slow chores of a document, each done once for one text: Redocly's rules and openapi-typescript's types.
 * Large documents go to worker threads, one for each kind, so that both run beside everything else.
 */
import { Worker } from 'node:worker_threads'
import { type Cache, hashOf, toolkitHash } from '../cache/cache.ts'
import type { Problem } from '../document/lint.ts'
import type { LoadedDocument } from '../document/load.ts'

export type ChoreKind = 'lint' | 'types'

export interface Chore {
  readonly kind: ChoreKind
  readonly file: string
  /** What `lint` quotes; types are made of the JSON alone. */
  readonly text: string
  /** The same as plain JSON: handing it over is faster than reading it again. */
  readonly json: Readonly<Record<string, unknown>>
}

/** Tells a worker that nothing more comes, so that what it holds is free for others. */
export const END = 'end'

/** What a worker answers. */
export type ChoreAnswer = { readonly result: string } | { readonly error: unknown }

export interface Chores {
  lint(document: LoadedDocument): Promise<Problem[]>
  types(document: LoadedDocument): Promise<string>
}

/** Below this many characters a worker takes longer to start than the chore takes. */
const WORTH_A_WORKER = 150_000

/** @param cache holds what is done. @param documents all that will be asked about. */
export function createChores(cache: Cache, documents: readonly LoadedDocument[]): Chores {
  const large = documents.reduce((sum, document) => sum + document.text.length, 0) > WORTH_A_WORKER
  const workers = new Map<ChoreKind, ChoreWorker>()
  const perform = async (chore: Chore): Promise<string> => {
    if (!large) return (await import('./task.ts')).perform(chore)
    const worker = workers.get(chore.kind) ?? startWorker(() => workers.delete(chore.kind))
    workers.set(chore.kind, worker)
    return worker.perform(chore)
  }
  const once = async (kind: ChoreKind, document: LoadedDocument): Promise<string> => {
    // The name of the file stands in nothing that is kept.
    const { file, text, json } = document
    const key = `${kind}-${hashOf(toolkitHash(), text)}`
    const known = cache.read(key)
    if (known !== undefined) return known
    const made = await perform({ kind, file, text: kind === 'lint' ? text : '', json })
    cache.write(key, made)
    return made
  }
  return {
    lint: async (document) => JSON.parse(await once('lint', document)) as Problem[],
    types: (document) => once('types', document),
  }
}

interface ChoreWorker {
  perform(chore: Chore): Promise<string>
}

/** A thread that takes one chore after the other and ends after the last. @param ended is told of that. */
function startWorker(ended: () => void): ChoreWorker {
  const worker = new Worker(new URL('./task-worker.ts', import.meta.url))
  const waiting: { resolve: (text: string) => void; reject: (error: unknown) => void }[] = []
  worker.on('message', (answer: ChoreAnswer) => {
    const first = waiting.shift()
    if (waiting.length === 0) {
      ended()
      worker.postMessage(END)
    }
    if ('error' in answer) first?.reject(answer.error)
    else first?.resolve(answer.result)
  })
  worker.on('error', (error) => {
    ended()
    for (const each of waiting.splice(0)) each.reject(error)
  })
  return {
    perform: (chore) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        worker.postMessage(chore)
      }),
  }
}
