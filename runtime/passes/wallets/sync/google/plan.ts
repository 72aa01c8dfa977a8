/** What follows from events and walks for Google Wallet: pure, so that it can be looked at without any of the two. */
import type { SyncOutcome } from './client.ts'
import type { NewsPage, PassPosition, ResendWalk, SpaceVisit, VisitEnd } from './queries.ts'
import type { Target } from './sync.ts'

/** Events after which a class or an object is another one, and whether it is a new one. */
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

/** What is to be sent in a visit. */
export interface VisitPlan {
  /** Each template and pass once, templates first: a class has to be there before its objects. */
  readonly fromEvents: readonly (Target & Numbered)[]
  /** Walks that begin behind events. */
  readonly begun: readonly (ResendWalk & Numbered)[]
  /** Up to where the events lead. */
  readonly reached: number
}

interface Numbered {
  /** Of the event. */
  readonly sequence: number
}

/** @param isWhole whether there are no events behind those of the page. */
export function planVisit(
  { space, sequence }: SpaceVisit,
  { head, news }: NewsPage,
  isWhole: boolean,
): VisitPlan {
  const targets = new Map<string, Target & Numbered>()
  const begun: (ResendWalk & Numbered)[] = []
  // Events that are gone by now: nobody knows which passes they told of.
  if ((news[0]?.sequence ?? head + 1) > sequence + 1) begun.push({ sequence: sequence + 1 })
  for (const each of news) {
    const kind = CONCERNED[each.type]
    if (kind === undefined || each.target === null) continue
    const target = { space, id: each.target, isNew: kind === 'new', sequence: each.sequence }
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

/** A walk that is under way goes on to its end, and begins once more then. */
export function withWalk(walks: readonly ResendWalk[], template: string | undefined): readonly ResendWalk[] {
  const known = walks.find((each) => each.template === template)
  if (!known) return [...walks, template === undefined ? {} : { template }]
  return known.after ? walks.map((each) => (each === known ? { ...each, again: true } : each)) : walks
}

/** What came of each target; what was not tried is absent. */
export type Results = ReadonlyMap<string, SyncOutcome>

/** Failures in a row after which a target that alone keeps failing is given up. */
export const MAX_FAILURES = 8

const FIRST_DELAY_MS = 1000
const MAX_DELAY_MS = 300_000

/** How long a space waits after so many failures in a row, and at least as Google said. */
export function delayAfter(failures: number, leastMs: number): number {
  return Math.max(leastMs, Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 16)))
}

/** A step of a walk. */
export interface WalkStep {
  readonly walk: ResendWalk
  readonly passes: readonly PassPosition[]
  /** Whether there are no passes behind these. */
  readonly isEnd: boolean
}

/**
 * How far a visit has come. Everything up to the first target that was not settled is behind it; a target that fails while
 * others succeed, again and again, is recorded as refused instead of holding the others up for ever.
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

/** The step as far as all of its passes are settled. */
function settledOf({ walk, passes, isEnd }: WalkStep, isSettled: (id: string) => boolean): WalkStep {
  if (walk.class && !isSettled(walk.template!)) return { walk, passes: [], isEnd: false }
  const open = passes.findIndex(({ id }) => !isSettled(id))
  return open < 0 ? { walk, passes, isEnd } : { walk, passes: passes.slice(0, open), isEnd: false }
}

/** The walk that had its step comes last, if it goes on. */
export function walksAfter(walks: readonly ResendWalk[], step: WalkStep | undefined): readonly ResendWalk[] {
  if (!step) return walks
  const { walk, passes, isEnd } = step
  // Its class was sent after all of these were asked for.
  const isDone = (each: ResendWalk) =>
    each.class && !each.after && walk.class && each.template === walk.template
  const others = walks.filter((each) => each !== walk && !isDone(each))
  const { class: _, ...begun } = walk
  if (!isEnd) return [...others, passes.length > 0 ? { ...begun, after: passes.at(-1)! } : walk]
  const { template, again } = walk
  return again ? withWalk(others, template) : others
}
