/** Prints what an upgrade changed and found. */
import type { UpgradeStep } from './rules.ts'
import type { ToldChange, UpgradePlace, UpgradeResult } from './upgrade.ts'

interface ReportOptions {
  readonly package: string
  /** Whether files were written: places then have the lines after the upgrade. */
  readonly written: boolean
  /** Returns the path of a file as it is shown. */
  shown(path: string): string
}

/** Returns the report: silent differences first, then what the compiler reports, then what was changed. */
export function printReport(
  result: UpgradeResult,
  steps: readonly UpgradeStep[],
  options: ReportOptions,
): string {
  const { errorsBefore, silent, marked, errors, changed, unconcerned, unplaced, files } = result
  const [from, to] = [steps[0]!.from, steps.at(-1)!.to]
  const isUpgrade = from !== to
  if (files.length === 0)
    return isUpgrade
      ? `No file uses ${options.package}/${from}.`
      : `No file calls methods of ${options.package}/${from} that take one object.`
  const sections = [
    errorsBefore === 0
      ? ''
      : `The compiler reported ${errorsBefore} ${errorsBefore === 1 ? 'error' : 'errors'} before the upgrade. What does not compile may not have been found.`,
    section(
      isUpgrade
        ? 'Silent: this compiles in both versions, but its meaning differs or may differ'
        : 'Marked: change these by hand',
      silent,
      options,
    ),
    section('Marked: the compiler reports these too', marked, options),
    section('Not marked: the compiler reports these since the upgrade', errors, options),
    listed('Not looked for: decide whether they concern this program', unplaced, ({ why }) => `: ${why}`),
    changedSection(changed, options),
    listed('No line uses', unconcerned, () => ''),
    `${files.length} ${files.length === 1 ? 'file' : 'files'} ${options.written ? '' : 'would be '}` +
      `${isUpgrade ? `upgraded from ${from} to ${to}` : 'changed'}; ` +
      `${silent.length} ${isUpgrade ? 'silent' : 'marked'}, ${marked.length + errors.length} that the compiler reports.`,
  ]
  return sections.filter((each) => each !== '').join('\n\n')
}

/** Lists places below the reason that they share. */
function section(title: string, places: readonly UpgradePlace[], options: ReportOptions): string {
  if (places.length === 0) return ''
  const groups = groupBy(
    places,
    ({ version, change = '', why }) => `${version} ${change && `${change}: `}${why}`,
  )
  const lines = [...groups].flatMap(([reason, own]) => [
    `  ${reason}`,
    ...new Set(own.map((place) => `    ${whereOf(place, options)}  ${place.text}`)),
  ])
  return `${title} (${places.length}):\n${lines.join('\n')}`
}

function listed(title: string, changes: readonly ToldChange[], more: (change: ToldChange) => string): string {
  const lines = changes.map((each) => `  ${each.version} ${each.change}${more(each)}`)
  return lines.length === 0 ? '' : `${title}:\n${lines.join('\n')}`
}

/** Lists changed lines by change and file. */
function changedSection(places: readonly UpgradePlace[], options: ReportOptions): string {
  if (places.length === 0) return ''
  const groups = groupBy(places, ({ version, change }) =>
    change === undefined ? 'the date, and names that follow from it' : `${version} ${change}`,
  )
  const lines = [...groups].flatMap(([reason, own]) => [
    `  ${reason}`,
    ...[...groupBy(own, ({ file }) => file)].map(([file, inFile]) => {
      const numbers = new Set(inFile.map(({ before, after }) => (options.written ? after : before)))
      return `    ${options.shown(file)}:${[...numbers].sort((a, b) => a - b).join(', ')}`
    }),
  ])
  return `Changed:\n${lines.join('\n')}`
}

/** Node 20 has no `Map.groupBy`. */
function groupBy(
  places: readonly UpgradePlace[],
  keyOf: (place: UpgradePlace) => string,
): ReadonlyMap<string, readonly UpgradePlace[]> {
  const groups = new Map<string, UpgradePlace[]>()
  for (const place of places) groups.set(keyOf(place), [...(groups.get(keyOf(place)) ?? []), place])
  return groups
}

const whereOf = ({ file, before, after }: UpgradePlace, { written, shown }: ReportOptions): string =>
  `${shown(file)}:${written ? after : before}`

const CONTEXT = 3

/** Returns the difference of two texts in the unified format. */
export function printDiff(path: string, before: string, after: string): string {
  const lines = compareLines(linesOf(before), linesOf(after))
  const shown = lines.map((_, index) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ sign }) => sign !== ' '),
  )
  const hunks: string[] = []
  let [old, next] = [1, 1]
  for (let index = 0; index < lines.length; ) {
    if (!shown[index]) {
      ;[old, next, index] = [old + 1, next + 1, index + 1]
      continue
    }
    let end = index
    while (end < lines.length && shown[end]) end++
    const own = lines.slice(index, end)
    const olds = own.filter(({ sign }) => sign !== '+').length
    const nexts = own.filter(({ sign }) => sign !== '-').length
    const head = `@@ -${old},${olds} +${next},${nexts} @@`
    hunks.push([head, ...own.map(({ sign, text }) => sign + text)].join('\n'))
    ;[old, next, index] = [old + olds, next + nexts, end]
  }
  return [`--- a/${path}`, `+++ b/${path}`, ...hunks].join('\n')
}

const linesOf = (text: string): readonly string[] => text.replace(/\n$/, '').split('\n')

interface DiffLine {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

const same = (text: string): DiffLine => ({ sign: ' ', text })
const gone = (text: string): DiffLine => ({ sign: '-', text })
const come = (text: string): DiffLine => ({ sign: '+', text })

function compareLines(old: readonly string[], next: readonly string[]): readonly DiffLine[] {
  let start = 0
  while (start < old.length && start < next.length && old[start] === next[start]) start++
  let end = 0
  while (end < Math.min(old.length, next.length) - start && old.at(-1 - end) === next.at(-1 - end)) end++
  const [a, b] = [old.slice(start, old.length - end), next.slice(start, next.length - end)]
  return [
    ...old.slice(0, start).map(same),
    ...(a.length * b.length > MOST_COMPARED ? [...a.map(gone), ...b.map(come)] : compareMiddle(a, b)),
    ...old.slice(old.length - end).map(same),
  ]
}

/** Pairs of lines. Each takes four bytes. */
const MOST_COMPARED = 25_000_000

/** Compares by the longest common subsequence. */
function compareMiddle(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1))
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      lengths[i]![j] =
        a[i] === b[j] ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!)
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(same(a[i++]!))
      j++
    } else if (i < a.length && (j === b.length || lengths[i + 1]![j]! >= lengths[i]![j + 1]!))
      lines.push(gone(a[i++]!))
    else lines.push(come(b[j++]!))
  }
  return lines
}
