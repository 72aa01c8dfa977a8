/** Prints differences as text for a terminal, and as Markdown for a pull request. */
import { behavioursOf } from '../change/behaviour.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import type { DiagnosticPaint } from '../diagnostics/diagnostic.ts'
import type { SourceLocation } from '../diagnostics/place.ts'
import { linesOfVerdict } from '../diagnostics/verdict.ts'
import type { Difference } from '../diff/difference.ts'
import type { AccountedDifference } from '../gate/steps.ts'
import type { Api } from '../ir/model.ts'
import type { DifferenceGroup } from './difference-groups.ts'

/** Maximum number of list items to show; the rest is only counted. */
const NAMED = 4

const some = (list: readonly string[]): string =>
  list.length > NAMED + 1
    ? `${list.slice(0, NAMED).join(', ')} and ${list.length - NAMED} more`
    : list.join(', ')

const lineOf = (place: SourceLocation): string => `${place.file}:${place.line}:${place.column}`

function headline(old: Api, next: Api, claimed: readonly AccountedDifference[]): string {
  const breaking = claimed.filter(({ difference }) => difference.class === 'breaking')
  const open = breaking.filter(({ by }) => by.length === 0).length
  const alpha = claimed.filter(({ difference }) => difference.class === 'alpha').length
  const rest = claimed.length - breaking.length - alpha
  const told = open > 0 ? ` (${open} not accounted for by any change)` : ''
  return `${old.file} → ${next.file}: ${breaking.length} breaking${told}, ${alpha > 0 ? `${alpha} alpha, ` : ''}${rest} additive`
}

/** Returns the lines to print, the headline first. */
export function printText(
  old: Api,
  next: Api,
  claimed: readonly AccountedDifference[],
  groups: readonly DifferenceGroup[],
  paint: DiagnosticPaint,
): string[] {
  return [headline(old, next, claimed), ...groups.flatMap((group) => ['', ...textOf(group, paint)])]
}

function textOf(
  { first, messages, places, uses, by, verdict }: DifferenceGroup,
  paint: DiagnosticPaint,
): string[] {
  const label = `${paint(STYLES[first.class], first.class)}${markOf(first)}`
  const lines = [first.old, first.new].flatMap((place) => (place ? [paint('place', lineOf(place))] : []))
  const where = directionsOf(first)
  return [
    `${label} ${first.code} ${some(places)}: ${some(messages)}`,
    `    ${lines.join(' → ')}`,
    ...(where === '' ? [] : [paint('faint', `    ${where}${uses.length > 0 ? ` of ${some(uses)}` : ''}`)]),
    ...(verdict ? linesOfVerdict(verdict).map((text) => `    ${text}`) : []),
    ...(first.proposal ? [`    possibly a ${proposalOf(first)}`] : []),
    ...accountOf(first, by).map((text) => `    ${text}`),
  ]
}

const STYLES = { breaking: 'error', alpha: 'warning', additive: 'good' } as const

/** Returns the stability of the part, unless the class already is `alpha`. */
const markOf = ({ class: name, stability }: Difference): string =>
  stability === undefined || stability === name ? '' : ` (${stability})`

const directionsOf = ({ directions }: Difference): string =>
  directions.length === 2
    ? 'in requests and responses'
    : directions[0] === 'request'
      ? 'in requests'
      : 'in responses'

const proposalOf = ({ proposal }: Difference): string =>
  proposal ? `${proposal.kind} to ${proposal.to.join(', ')}: ${proposal.evidence.join(', ')}` : ''

function accountOf(first: Difference, by: readonly string[]): string[] {
  if (by.length > 0) return [`accounted for by ${by.join(' and ')}`]
  return first.class === 'breaking' ? ['not accounted for by any change'] : []
}

/** Returns lines of Markdown, with one table for each class. */
export function printMarkdown(
  old: Api,
  next: Api,
  claimed: readonly AccountedDifference[],
  groups: readonly DifferenceGroup[],
): string[] {
  const table = (name: Difference['class']) => {
    const own = groups.filter(({ first }) => first.class === name)
    if (own.length === 0) return []
    const title = { breaking: 'Breaking', alpha: 'Alpha', additive: 'Additive' }[name]
    const head = ['| Difference | Location | Lines | Change |', '|---|---|---|---|']
    return ['', `## ${title}`, '', ...head, ...own.map(rowOf)]
  }
  return [
    `# ${old.version} → ${next.version}`,
    '',
    headline(old, next, claimed),
    ...table('breaking'),
    ...table('alpha'),
    ...table('additive'),
  ]
}

function rowOf({ first, messages, places, by, verdict }: DifferenceGroup): string {
  const lines = [first.old, first.new].flatMap((place) => (place ? [lineOf(place)] : []))
  const proposal = first.proposal ? ` (possibly a ${proposalOf(first)})` : ''
  const proof = verdict
    ? `<br>${linesOfVerdict(verdict)
        .map((text) => text.trim())
        .join('<br>')}`
    : ''
  const cells = [
    `\`${first.code}\`${markOf(first)} ${some(messages)}${proposal}${proof}`,
    some(places),
    lines.join(' → '),
    by.length > 0 ? by.join(', ') : first.class === 'breaking' ? '**none**' : '',
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

/** Returns lines about behavior that changes introduce and no document shows. */
export function printBehaviour(
  changes: readonly LoadedChange[],
  markdown: boolean,
  paint: DiagnosticPaint,
): string[] {
  const told = behavioursOf(changes).map(({ name, change: { id, version }, affects }) => {
    const where = affects.length > 0 ? ` of ${some(affects)}` : ''
    return markdown
      ? `- \`${name}\`${where}, since ${version} (${id})`
      : `${paint('warning', 'behavior')} ${name}${where}: true since ${version}, by ${id}`
  })
  if (told.length === 0) return []
  return ['', ...(markdown ? ['## Behavior', ''] : []), ...told]
}
