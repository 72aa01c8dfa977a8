/** A rehearsal repeats recent sandbox read requests in two versions and compares the responses. It writes nothing. */

import { findDifferences, type JsonDifference } from 'dateline/runtime/differences'
import { MAX_PATH } from '../../../api/request-log.ts'
import { type LoggedRead, listLastReads } from '../../../api/request-log-queries.ts'
import { type Html, html } from '../../../platform/html.ts'
import { linkIn, writeTable } from '../../engine/list-page.ts'
import { code } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import type { VersionUpgrade } from './changes.ts'

/** Number of logged requests that are searched for read requests. */
const LOOKED_AT = 1000

/** Maximum number of distinct read requests that a rehearsal repeats. */
export const MAX_READS = 50

/** No further read is started after 10 s. */
const TIME_MS = 10_000

/** Responses larger than this are not compared. */
const MAX_BYTES = 512 * 1024

/** Maximum number of differences shown for one read. */
const MAX_SHOWN = 20

/** The outcome for one read. */
type Rehearsed = { readonly read: LoggedRead } & (
  | { readonly kind: 'same' }
  | { readonly kind: 'differs'; readonly differences: readonly JsonDifference[] }
  /** The read fails in one version, or in both with different errors. */
  | { readonly kind: 'fails'; readonly before: string; readonly after: string }
  | { readonly kind: 'left'; readonly why: string }
)

/** Repeats the reads in both versions. @param now monotonic clock, in milliseconds. */
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
      now() < end
        ? await rehearseOne(visit, way, read)
        : { read, kind: 'left', why: 'the time limit was reached' },
    )
  return rehearsed
}

async function rehearseOne(
  visit: DashboardVisit,
  { from, to }: VersionUpgrade,
  read: LoggedRead,
): Promise<Rehearsed> {
  const { target } = read
  if (target.length >= MAX_PATH) return { read, kind: 'left', why: 'the log contains only part of its URL' }
  const before = await visit.replayRead(from, target)
  const after = await visit.replayRead(to, target)
  if (!before || !after) return { read, kind: 'left', why: 'it is not a read-only request' }
  const refused = [before, after].find(({ status }) => status === 429 || status === 503)
  if (refused) return { read, kind: 'left', why: `it was temporarily refused: ${outcomeOf(refused)}` }
  if (!before.ok || !after.ok) {
    const [one, other] = [outcomeOf(before), outcomeOf(after)]
    return one === other ? { read, kind: 'same' } : { read, kind: 'fails', before: one, after: other }
  }
  if (before.bytes > MAX_BYTES || after.bytes > MAX_BYTES)
    return { read, kind: 'left', why: 'its response is too large to compare' }
  const differences = findDifferences(before.body, after.body, MAX_SHOWN + 1)
  return differences.length === 0 ? { read, kind: 'same' } : { read, kind: 'differs', differences }
}

type ReplayAnswer = NonNullable<Awaited<ReturnType<DashboardVisit['replayRead']>>>

const outcomeOf = (answer: ReplayAnswer): string =>
  answer.ok ? `${answer.status}` : `${answer.status} ${answer.error.code}: ${answer.error.message}`

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`

/** Writes each difference side by side, and lists the reads with equal responses. */
export function writeRehearsal(visit: DashboardVisit, way: VersionUpgrade, all: readonly Rehearsed[]): Html {
  const of = <Kind extends Rehearsed['kind']>(kind: Kind) =>
    all.filter((each): each is Extract<Rehearsed, { kind: Kind }> => each.kind === kind)
  const [same, differs, fails, left] = [of('same'), of('differs'), of('fails'), of('left')]
  if (all.length === 0)
    return html`<p class="empty">The request log contains no sandbox read requests from the last 7 days. Send some with a sandbox API key, and then rehearse again.</p>`
  return html`<p>${counted(all.length, 'read request')} repeated in ${way.from} and ${way.to}: ${String(differs.length)} with differences, ${String(fails.length)} with different errors, ${String(same.length)} the same${left.length > 0 && `, ${left.length} skipped`}.</p>
${fails.map((each) => writeSides(visit, way, each.read, [{ path: '', before: each.before, after: each.after }]))}
${differs.map((each) => writeSides(visit, way, each.read, each.differences))}
${writeList('Same in both versions', same)}
${left.length > 0 && writeList('Skipped', left, (each) => each.why)}`
}

function writeSides(
  visit: DashboardVisit,
  { from, to }: VersionUpgrade,
  read: LoggedRead,
  differences: readonly JsonDifference[],
): Html {
  const shown = differences.slice(0, MAX_SHOWN)
  const columns = [
    { title: 'Field', show: ({ path }: JsonDifference) => (path === '' ? 'Response' : code(path)) },
    { title: from, show: ({ before }: JsonDifference) => writeValue(before) },
    { title: to, show: ({ after }: JsonDifference) => writeValue(after) },
  ]
  return html`<section class="change"><h2>GET ${read.target}</h2>
${writeTable(`Differences in GET ${read.target}`, columns, shown, linkIn(visit))}
${differences.length > MAX_SHOWN && html`<p class="quiet">Only the first ${String(MAX_SHOWN)} differences are shown.</p>`}</section>`
}

/** Maximum number of characters shown of a value. */
const MAX_TEXT = 300

function writeValue(value: unknown): Html {
  if (value === undefined) return html`<span class="quiet">none</span>`
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
