/** Shows the result of a comparison. */
import type { ChangeDraft, ListedDifference } from '../compare.ts'
import type { CompareAnswer, ListedFinding } from '../messages.ts'
import type { Translation } from '../translations.ts'
import { element } from './elements.ts'

/** Called when the reader edits a text of the results. */
export interface ResultEdits {
  lenses(change: string, text: string): void
  value(translation: string, text: string): void
  /** Selects a line of a document. */
  show(document: 'old' | 'new', line: number): void
}

/** Returns the sections of the results, in order. */
export function resultSections({ findings, comparison, failure }: CompareAnswer, edits: ResultEdits) {
  if (failure !== undefined)
    return [element('p.problem', `The comparison failed: ${failure}. Try smaller documents.`)]
  const listed = findings.map((each) => findingItem(each, edits))
  const problems =
    listed.length === 0 ? [] : [section('findings', 'Findings', element('ul.findings', listed))]
  if (!comparison) return problems
  const { differences, changes, translations, missed } = comparison
  const breaking = differences.filter((each) => each.class === 'breaking').length
  const open = differences.filter((each) => each.class === 'breaking' && each.by.length === 0).length
  const summary =
    differences.length === 0
      ? 'The documents do not differ for callers.'
      : `${breaking} breaking${open > 0 ? ` (${open} without a change)` : ''}, ${differences.length - breaking} additive`
  return [
    ...problems,
    section(
      'differences',
      'Differences',
      element('p', summary),
      differences.length === 0
        ? undefined
        : element(
            'ul.differences',
            differences.map((each) => differenceItem(each, edits)),
          ),
    ),
    section(
      'drafts',
      'Drafts of changes',
      changes.length === 0
        ? element('p', 'No change is needed: no difference breaks callers.')
        : changes.map((each) => changeItem(each, edits)),
    ),
    section(
      'translations',
      'Translations',
      translations.length === 0
        ? element('p', 'The changes translate no bodies, responses or events.')
        : translations.map((each) => translationItem(each, edits)),
      missed.length === 0
        ? undefined
        : element('p.problem', `Values differ, but are not translated: ${missed.join(', ')}`),
    ),
  ]
}

function section(id: string, title: string, ...contents: Parameters<typeof element>[1][]): HTMLElement {
  const created = element('section', element('h2', title), ...contents)
  created.id = id
  return created
}

function lineButton(document: 'old' | 'new', line: number, edits: ResultEdits): HTMLElement {
  const button = element('button.line', `${document} line ${line}`)
  button.setAttribute('type', 'button')
  button.addEventListener('click', () => edits.show(document, line))
  return button
}

function findingItem({ severity, code, message, document, line, hint }: ListedFinding, edits: ResultEdits) {
  return element(
    `li.${severity}`,
    element('b', severity),
    ' ',
    element('code', code),
    ' ',
    message,
    hint === undefined ? undefined : `; ${hint}`,
    ' ',
    line === undefined ? undefined : lineButton(document, line, edits),
  )
}

function differenceItem(difference: ListedDifference, edits: ResultEdits): HTMLElement {
  const { code, places, messages, oldLine, newLine, by, verdict } = difference
  const account =
    by.length > 0
      ? element('span.by', `${by.join(', ')} accounts for it.`)
      : difference.class === 'breaking'
        ? element('span.open', 'No change accounts for it.')
        : undefined
  return element(
    `li.${difference.class}`,
    element('b', difference.class),
    ' ',
    element('code', code),
    ' ',
    element('code', places.join(', ')),
    ': ',
    messages.join(', '),
    '. ',
    oldLine === undefined ? undefined : lineButton('old', oldLine, edits),
    ' ',
    newLine === undefined ? undefined : lineButton('new', newLine, edits),
    ' ',
    account,
    verdict ? element('code.verdict', verdict.join('\n')) : undefined,
  )
}

/** @param name says what the field contains, for screen readers; unique on the page. */
function textField(label: string, name: string, text: string, change: (text: string) => void): HTMLElement {
  const field = document.createElement('textarea')
  field.setAttribute('aria-label', name)
  field.value = text
  field.spellcheck = false
  field.rows = Math.min(text.split('\n').length, 16)
  field.dataset.field = name
  field.addEventListener('input', () => change(field.value))
  return element('label', element('span', label), field)
}

function changeItem({ id, lenses, file, problem }: ChangeDraft, edits: ResultEdits): HTMLElement {
  return element(
    'article',
    element('h3', id),
    textField('Lenses', `Lenses of ${id}`, lenses, (text) => edits.lenses(id, text)),
    problem === undefined ? undefined : element('p.problem', problem),
    element('details', element('summary', `versions/…/${id}.ts`), element('pre', element('code', file))),
  )
}

const VERSIONS = { up: ['Old version', 'New version'], down: ['New version', 'Old version'] } as const

function translationItem(translation: Translation, edits: ResultEdits): HTMLElement {
  const { id, direction, title, given, translated, problem } = translation
  const [from, to] = VERSIONS[direction]
  return element(
    'article',
    element('h3', title, ' ', element('small', direction)),
    element(
      'div.pair',
      textField(from, `${from}: ${title}`, given, (text) => edits.value(id, text)),
      problem === undefined
        ? element(
            'div',
            element('span', `${to}, translated`),
            element('pre.translated', element('code', translated)),
          )
        : element('p.problem', problem),
    ),
  )
}
