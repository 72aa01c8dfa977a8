/**
 * A rehearsal repeats recent sandbox requests in two versions and compares the responses. It writes nothing: reads have no effect,
 * and writes run in transactions that are rolled back. It also replays the requests against the documents, which shows what a caller
 * must change.
 */
import { findDifferences, type JsonDifference } from 'dateline/runtime/differences'
import { createTally, type ReplayFinding } from 'dateline/runtime/replay-tally'
import { versions } from '../../../../generated/versions.ts'
import type { RepeatedAnswer } from '../../../api/operate.ts'
import { createReplayLogged } from '../../../api/replay.ts'
import { MAX_PATH } from '../../../api/request-log.ts'
import { listLastDistinct, type RepeatedRequest } from '../../../api/request-log-queries.ts'
import { REDACTED } from '../../../platform/card-numbers.ts'
import { type Html, html } from '../../../platform/html.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import { code } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import type { VersionUpgrade } from './changes.ts'

/** Number of logged requests that are searched. */
const LOOKED_AT = 1000

/** Maximum number of distinct requests that a rehearsal repeats. */
export const MAX_REPEATED = 50

/** No further request is started after 10 s. */
const TIME_MS = 10_000

/** Responses larger than this are not compared. */
const MAX_BYTES = 512 * 1024

/** Maximum number of differences shown for one request. */
const MAX_SHOWN = 20

/** The outcome for one request. */
type Rehearsed = { readonly request: RepeatedRequest } & (
  | { readonly kind: 'same' }
  | { readonly kind: 'differs'; readonly differences: readonly JsonDifference[] }
  /** The request fails in one version, or in both with different errors. */
  | { readonly kind: 'fails'; readonly before: string; readonly after: string }
  | { readonly kind: 'left'; readonly why: string }
)

export interface Rehearsal {
  readonly repeated: readonly Rehearsed[]
  /** What the requests must change. */
  readonly findings: readonly ReplayFinding[]
}

/** Repeats the requests in both versions. @param now monotonic clock, in milliseconds. */
export async function rehearse(
  visit: DashboardVisit,
  way: VersionUpgrade,
  now: () => number = performance.now.bind(performance),
): Promise<Rehearsal> {
  const { db, space } = await visit.place()
  const requests = (await listLastDistinct(db, space, LOOKED_AT, way.from)).slice(0, MAX_REPEATED)
  const replay = createReplayLogged(versions, way.from, way.to)
  const tally = createTally()
  const end = now() + TIME_MS
  const repeated: Rehearsed[] = []
  for (const [order, request] of requests.entries()) {
    const replayed = isWhole(request) ? replay(request) : undefined
    if (replayed) tally.add('', replayed.operation, replayed.notes, { order, at: nameOf(request) })
    repeated.push(
      now() < end
        ? await rehearseOne(visit, way, request)
        : { request, kind: 'left', why: 'the time limit was reached' },
    )
  }
  return { repeated, findings: tally.findings() }
}

const nameOf = ({ method, target }: RepeatedRequest): string => `${method} ${target}`

const isWhole = ({ target, request_body: body }: RepeatedRequest): boolean =>
  target.length < MAX_PATH && !body?.endsWith('…')

async function rehearseOne(
  visit: DashboardVisit,
  { from, to }: VersionUpgrade,
  request: RepeatedRequest,
): Promise<Rehearsed> {
  const { method, target, request_body: body } = request
  const left = (why: string): Rehearsed => ({ request, kind: 'left', why })
  if (!isWhole(request)) return left('the log contains only part of it')
  if (body?.includes(REDACTED) || target.includes(REDACTED))
    return left('the log does not contain its secrets')
  const repeat = (version: string) => visit.dryRun(version, { method, target, body })
  const before = await repeat(from)
  const after = await repeat(to)
  for (const answer of [before, after]) {
    if ('skipped' in answer) return left(answer.skipped)
    if (answer.status === 429 || answer.status === 503)
      return left(`it was temporarily refused: ${outcomeOf(answer)}`)
    if (!answer.ok && answer.error.code === 'factor_required')
      return left('it requires an authenticator code')
  }
  const [one, other] = [before as Answered, after as Answered]
  if (!one.ok || !other.ok) {
    const outcomes = [outcomeOf(one), outcomeOf(other)] as const
    return outcomes[0] === outcomes[1]
      ? { request, kind: 'same' }
      : { request, kind: 'fails', before: outcomes[0], after: outcomes[1] }
  }
  if (one.bytes > MAX_BYTES || other.bytes > MAX_BYTES) return left('its response is too large to compare')
  const random = method === 'GET' ? new Set<string>() : pathsOf(one, await repeat(from))
  const differences = findDifferences(one.body, other.body, MAX_SHOWN + 1 + random.size).filter(
    ({ path }) => !random.has(path),
  )
  return differences.length === 0 ? { request, kind: 'same' } : { request, kind: 'differs', differences }
}

/** Fields that differ between two runs in the same version: identifiers, times, links and other values that each run makes. */
function pathsOf(one: Answered, again: RepeatedAnswer): ReadonlySet<string> {
  const body = 'skipped' in again || !again.ok ? undefined : again.body
  return new Set(
    findDifferences(one.ok ? one.body : undefined, body, Number.POSITIVE_INFINITY).map(({ path }) => path),
  )
}

type Answered = Exclude<RepeatedAnswer, { readonly skipped: string }>

const outcomeOf = (answer: Answered): string =>
  answer.ok ? `${answer.status}` : `${answer.status} ${answer.error.code}: ${answer.error.message}`

const counted = (count: number, thing: string) => `${count} ${thing}${count === 1 ? '' : 's'}`

/** Writes what the requests must change, each difference side by side, and the requests with equal responses. */
export function writeRehearsal(
  visit: DashboardVisit,
  way: VersionUpgrade,
  { repeated: all, findings }: Rehearsal,
): Html {
  const of = <Kind extends Rehearsed['kind']>(kind: Kind) =>
    all.filter((each): each is Extract<Rehearsed, { kind: Kind }> => each.kind === kind)
  const [same, differs, fails, left] = [of('same'), of('differs'), of('fails'), of('left')]
  if (all.length === 0)
    return html`<p class="empty">The request log contains no sandbox requests to ${way.from} from the last 7 days. Send some with a sandbox API key, and then rehearse again.</p>`
  return html`<p>${counted(all.length - left.length, 'request')} repeated in ${way.from} and ${way.to}: ${String(differs.length)} with differences, ${String(fails.length)} with different errors, ${String(same.length)} the same${left.length > 0 && `; ${left.length} skipped`}.</p>
${writeFindings(visit, way, findings)}
${fails.map((each) => writeSides(visit, way, each.request, [{ path: '', before: each.before, after: each.after }]))}
${differs.map((each) => writeSides(visit, way, each.request, each.differences))}
${writeList('Same in both versions', same)}
${left.length > 0 && writeList('Skipped', left, (each) => each.why)}`
}

const EFFECTS: Readonly<Partial<Record<ReplayFinding['kind'], string>>> = {
  breaks: 'Refused',
  silent: 'Accepted, but read differently',
  changes: 'Changed',
  deprecated: 'Deprecated',
}

function writeFindings(
  visit: DashboardVisit,
  { to }: VersionUpgrade,
  findings: readonly ReplayFinding[],
): Html | false {
  const shown = findings.filter(({ kind }) => EFFECTS[kind] !== undefined).slice(0, MAX_SHOWN)
  if (shown.length === 0) return false
  const columns = [
    { title: 'Operation', show: ({ operation }: ReplayFinding) => code(operation) },
    { title: 'Field', show: ({ field }: ReplayFinding) => code(field) },
    { title: `In ${to}`, show: ({ kind, detail }: ReplayFinding) => html`${EFFECTS[kind]}: ${detail}` },
    { title: 'Requests', show: ({ exchanges }: ReplayFinding) => html`${String(exchanges)}` },
  ]
  return html`<section class="change"><h2>What your requests must change</h2>
${writeTable('What your requests must change', columns, shown, linkIn(visit))}</section>`
}

function writeSides(
  visit: DashboardVisit,
  { from, to }: VersionUpgrade,
  request: RepeatedRequest,
  differences: readonly JsonDifference[],
): Html {
  const shown = differences.slice(0, MAX_SHOWN)
  const name = nameOf(request)
  const columns = [
    { title: 'Field', show: ({ path }: JsonDifference) => (path === '' ? 'Response' : code(path)) },
    { title: from, show: ({ before }: JsonDifference) => writeValue(before) },
    { title: to, show: ({ after }: JsonDifference) => writeValue(after) },
  ]
  return html`<section class="change"><h2>${name}</h2>
${writeTable(`Differences in ${name}`, columns, shown, linkIn(visit))}
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
<ul>${all.map((each) => html`<li>${code(nameOf(each.request))}${why && html`: ${why(each)}`}</li>`)}</ul></details>`
}
