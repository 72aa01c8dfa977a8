/** A rehearsal: the last reads of the sandbox made again in two versions, and where their answers differ. Nothing is written. */
import { MAX_PATH } from '../../../api/request-log.ts'
import { type LoggedRead, listLastReads } from '../../../api/request-log-queries.ts'
import { type Html, html } from '../../../platform/html.ts'
import { linkIn, writeTable } from '../../engine/list-page.ts'
import { code } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import type { VersionUpgrade } from './changes.ts'
import { findDifferences, type JsonDifference } from './json-differences.ts'

/** Requests of the log that are looked through for reads. */
const LOOKED_AT = 1000

/** Distinct reads that are made again. */
export const MAX_READS = 50

/** No further read is begun after so long. */
const TIME_MS = 10_000

/** Answers beyond this are not compared, in bytes. */
const MAX_BYTES = 512 * 1024

/** Differences shown of one read. */
const MAX_SHOWN = 20

/** What became of one read. */
type Rehearsed = { readonly read: LoggedRead } & (
  | { readonly kind: 'same' }
  | { readonly kind: 'differs'; readonly differences: readonly JsonDifference[] }
  /** It fails in one of the versions, or in each in its own way; `done` where it does not. */
  | { readonly kind: 'fails'; readonly before: string; readonly after: string }
  | { readonly kind: 'left'; readonly why: string }
)

/** @param now milliseconds that never run backwards. */
export async function rehearse(
  visit: DashboardVisit,
  way: VersionUpgrade,
  now: () => number = performance.now.bind(performance),
): Promise<readonly Rehearsed[]> {
  const { db, space } = await visit.place()
  const reads = (await listLastReads(db, space, LOOKED_AT)).slice(0, MAX_READS)
  const end = now() + TIME_MS
  const rehearsed: Rehearsed[] = []
  for (const read of reads)
    rehearsed.push(
      now() < end ? await rehearseOne(visit, way, read) : { read, kind: 'left', why: 'time was up' },
    )
  return rehearsed
}

async function rehearseOne(
  visit: DashboardVisit,
  { from, to }: VersionUpgrade,
  read: LoggedRead,
): Promise<Rehearsed> {
  const { target } = read
  if (target.length >= MAX_PATH) return { read, kind: 'left', why: 'the log has cut its address' }
  const before = await visit.replayRead(from, target)
  const after = await visit.replayRead(to, target)
  if (!before || !after) return { read, kind: 'left', why: 'it does more than read' }
  const refused = [before, after].find(({ status }) => status === 429 || status === 503)
  if (refused) return { read, kind: 'left', why: `it was refused for now: ${outcomeOf(refused)}` }
  if (!before.ok || !after.ok) {
    const [one, other] = [outcomeOf(before), outcomeOf(after)]
    return one === other ? { read, kind: 'same' } : { read, kind: 'fails', before: one, after: other }
  }
  if (before.bytes > MAX_BYTES || after.bytes > MAX_BYTES)
    return { read, kind: 'left', why: 'its answer is too long to compare' }
  const differences = findDifferences(before.body, after.body, MAX_SHOWN + 1)
  return differences.length === 0 ? { read, kind: 'same' } : { read, kind: 'differs', differences }
}

type ReplayAnswer = NonNullable<Awaited<ReturnType<DashboardVisit['replayRead']>>>

const outcomeOf = (answer: ReplayAnswer): string =>
  answer.ok ? `${answer.status}` : `${answer.status} ${answer.error.code}: ${answer.error.message}`

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`

/** Both sides of each difference; what is equal is counted and listed. */
export function writeRehearsal(visit: DashboardVisit, way: VersionUpgrade, all: readonly Rehearsed[]): Html {
  const of = <Kind extends Rehearsed['kind']>(kind: Kind) =>
    all.filter((each): each is Extract<Rehearsed, { kind: Kind }> => each.kind === kind)
  const [same, differs, fails, left] = [of('same'), of('differs'), of('fails'), of('left')]
  if (all.length === 0)
    return html`<p class="empty">The log has no read of the last seven days to make again. Make some with a key of the sandbox, and come back.</p>`
  return html`<p>${counted(all.length, 'read')} of the sandbox made again in ${way.from} and in ${way.to}: ${counted(differs.length, 'answer')} differ${differs.length === 1 && 's'}, ${String(fails.length)} fail${fails.length === 1 && 's'} in one of them or otherwise, ${String(same.length)} ${same.length === 1 ? 'is' : 'are'} the same${left.length > 0 && `, ${left.length} left out`}.</p>
${fails.map((each) => writeSides(visit, way, each.read, [{ path: '', before: each.before, after: each.after }]))}
${differs.map((each) => writeSides(visit, way, each.read, each.differences))}
${writeList('The same in both', same)}
${left.length > 0 && writeList('Left out', left, (each) => each.why)}`
}

function writeSides(
  visit: DashboardVisit,
  { from, to }: VersionUpgrade,
  read: LoggedRead,
  differences: readonly JsonDifference[],
): Html {
  const shown = differences.slice(0, MAX_SHOWN)
  const columns = [
    { title: 'Where', show: ({ path }: JsonDifference) => (path === '' ? 'Answer' : code(path)) },
    { title: from, show: ({ before }: JsonDifference) => writeValue(before) },
    { title: to, show: ({ after }: JsonDifference) => writeValue(after) },
  ]
  return html`<section class="change"><h2>GET ${read.target}</h2>
${writeTable(`Differences of ${read.target}`, columns, shown, linkIn(visit))}
${differences.length > MAX_SHOWN && html`<p class="quiet">There are more; the first ${String(MAX_SHOWN)} are shown.</p>`}</section>`
}

/** Characters of a value. */
const MAX_TEXT = 300

function writeValue(value: unknown): Html {
  if (value === undefined) return html`<span class="quiet">nothing</span>`
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return code(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)
}

function writeList<Each extends Rehearsed>(
  title: string,
  all: readonly Each[],
  why?: (each: Each) => string,
) {
  if (all.length === 0) return false
  return html`<details class="change"><summary>${title} <span class="quiet">${String(all.length)}</span></summary>
<ul>${all.map((each) => html`<li>${code(`GET ${each.read.target}`)}${why && html`: ${why(each)}`}</li>`)}</ul></details>`
}
