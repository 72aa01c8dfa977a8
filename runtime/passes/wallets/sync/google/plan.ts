/**
 * Plans the requests that a visit sends to Google Wallet, and the position at which the visit ends. All functions are
 * pure.
 */
import type { SyncOutcome } from './client.ts'
import type { NewsPage, PassPosition, ResendWalk, SpaceVisit, VisitEnd } from './queries.ts'
import type { Target } from './sync.ts'

/** Event types that change a class or an object, and whether the event creates it. */
const CONCERNED: Readonly<Record<string, 'new' | 'changed'>> = {
  'pass_template.created': 'new',
  'pass_template.updated': 'changed',
  'pass.created': 'new',
  'pass.updated': 'changed',
  'pass.redeemed': 'changed',
  'pass.revoked': 'changed',
  'pass.expired': 'changed',
}

export const CONCERNED_TYPES = Object.keys(CONCERNED)

export interface VisitPlan {
  /** Each template and pass once. Templates come first, because an object needs its class. */
  readonly fromEvents: readonly (Target & Numbered)[]
  /** Resend walks that these events start. */
  readonly begun: readonly (ResendWalk & Numbered)[]
  /** The sequence number up to which these events lead. */
  readonly reached: number
}

interface Numbered {
  /** Sequence number of the event. */
  readonly sequence: number
}

/** Plans a visit from a page of events. @param isWhole whether the page is the last one. */
export function planVisit(
  { space, sequence }: SpaceVisit,
  { head, news }: NewsPage,
  isWhole: boolean,
): VisitPlan {
  const targets = new Map<string, Target & Numbered>()
  const begun: (ResendWalk & Numbered)[] = []
  // Some events have been deleted, so the passes that they concerned are unknown: resend all.
  if ((news[0]?.sequence ?? head + 1) > sequence + 1) begun.push({ sequence: sequence + 1 })
  for (const each of news) {
    const kind = CONCERNED[each.type]
    if (kind === undefined || each.target === null) continue
    const { sequence, target: id, trace } = each
    const target = { space, id, isNew: kind === 'new', sequence, trace }
    if (!targets.has(target.id)) targets.set(target.id, target)
    if (each.type === 'pass_template.updated') begun.push({ template: target.id, sequence: target.sequence })
  }
  const all = [...targets.values()]
  return {
    fromEvents: [...all.filter(isTemplate), ...all.filter((each) => !isTemplate(each))],
    begun,
    reached: isWhole ? Math.max(head, sequence) : (news.at(-1)?.sequence ?? sequence),
  }
}

export function isTemplate({ id }: Pick<Target, 'id'>): boolean {
  return id.startsWith('tpl_')
}

/** Adds a resend walk. If one is running for the same template, it runs to its end and then once more. */
export function withWalk(walks: readonly ResendWalk[], template: string | undefined): readonly ResendWalk[] {
  const known = walks.find((each) => each.template === template && !each.messages)
  if (!known) return [...walks, template === undefined ? {} : { template }]
  return known.after ? walks.map((each) => (each === known ? { ...each, again: true } : each)) : walks
}

/** The result for each target ID; targets that were not tried are absent. */
export type Results = ReadonlyMap<string, SyncOutcome>

/** Number of consecutive failures after which a target is recorded as refused, if others succeed. */
export const MAX_FAILURES = 8

const FIRST_DELAY_MS = 1000
const MAX_DELAY_MS = 300_000

/**
 * Returns the delay before the next visit in milliseconds: exponential, but at least `leastMs` (Google's Retry-After).
 */
export function delayAfter(failures: number, leastMs: number): number {
  return Math.max(leastMs, Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 16)))
}

export interface WalkStep {
  readonly walk: ResendWalk
  readonly passes: readonly PassPosition[]
  /** Whether these are the last passes of the walk. */
  readonly isEnd: boolean
}

/**
 * Computes the end of a visit. The cursor moves up to the first target that is not settled. A target that keeps failing
 * while others succeed is recorded as refused, so that it does not block the others forever.
 *
 * @param now machine time.
 */
export function concludeVisit(
  visit: SpaceVisit,
  plan: VisitPlan,
  step: WalkStep | undefined,
  results: Results,
  now: number,
): VisitEnd {
  const sent = [...results.values()]
  const givesUp = visit.failures >= MAX_FAILURES && sent.some(({ outcome }) => outcome !== 'later')
  const isSettled = (id: string) => {
    const outcome = results.get(id)?.outcome
    return outcome !== undefined && (outcome !== 'later' || givesUp)
  }
  const open = plan.fromEvents.filter(({ id }) => !isSettled(id)).map((each) => each.sequence)
  const sequence = open.length > 0 ? Math.max(visit.sequence, Math.min(...open) - 1) : plan.reached
  const passed = step ? settledOf(step, isSettled) : undefined
  const hasFailed = sent.some(({ outcome }) => outcome === 'later') && !givesUp
  const hasMoved = sequence > visit.sequence || (passed?.passes.length ?? 0) > 0
  const failures = hasFailed ? (hasMoved ? 1 : visit.failures + 1) : 0
  const waits = sent.map((each) => (each.outcome === 'later' ? each.retryAfterMs : 0))
  return {
    sequence,
    walks: plan.begun
      .filter((each) => each.sequence <= sequence)
      .reduce((walks, each) => withWalk(walks, each.template), walksAfter(visit.walks, passed)),
    readyAt: hasFailed ? now + delayAfter(failures, Math.max(0, ...waits)) : Number.NEGATIVE_INFINITY,
    failures,
    refused: [...results].flatMap(([id, each]) => {
      if (each.outcome === 'done' || (each.outcome === 'later' && !givesUp)) return []
      return [{ id, status: each.outcome === 'refused' ? each.status : 0, message: each.message }]
    }),
    taken: [...results].flatMap(([id, { outcome }]) => (outcome === 'done' ? [id] : [])),
  }
}

/** Returns the leading part of the step whose passes are all settled. */
function settledOf({ walk, passes, isEnd }: WalkStep, isSettled: (id: string) => boolean): WalkStep {
  if (walk.class && !isSettled(walk.template!)) return { walk, passes: [], isEnd: false }
  const open = passes.findIndex(({ id }) => !isSettled(id))
  return open < 0 ? { walk, passes, isEnd } : { walk, passes: passes.slice(0, open), isEnd: false }
}

/** Returns the walks after a step. A walk that continues moves to the end of the list. */
export function walksAfter(walks: readonly ResendWalk[], step: WalkStep | undefined): readonly ResendWalk[] {
  if (!step) return walks
  const { walk, passes, isEnd } = step
  // One sent class satisfies all walks that were waiting to send the same class.
  const isDone = (each: ResendWalk) =>
    each.class && !each.after && walk.class && each.template === walk.template
  const others = walks.filter((each) => each !== walk && !isDone(each))
  const { class: _, messages, ...rest } = walk
  const begun: ResendWalk = { ...rest, ...(messages && { messages: 'begun' }) }
  if (!isEnd) return [...others, passes.length > 0 ? { ...begun, after: passes.at(-1)! } : walk]
  const { template, again } = walk
  return again ? withWalk(others, template) : others
}
