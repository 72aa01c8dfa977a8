import { randomUUID } from 'node:crypto'
import { messageOf } from '../../../../database/errors.ts'
import type { Pool } from '../../../../database/pool/pool.ts'
import { runInSpan, type SpanStart } from '../../../../tracing/span.ts'
import type { WorkTurn } from '../../../../work/queue-worker.ts'
import type { SyncOutcome } from './client.ts'
import {
  CONCERNED_TYPES,
  concludeVisit,
  isTemplate,
  MAX_FAILURES,
  planVisit,
  type VisitPlan,
  type WalkStep,
} from './plan.ts'
import { claimSpace, endVisit, readNews, readWalk, type SpaceVisit } from './queries.ts'
import type { Sync, Target } from './sync.ts'

export interface VisitorOptions {
  readonly pool: Pool
  readonly sync: Sync
  /** Lease duration in milliseconds. It must be shorter than the time for which a wiped space is kept. */
  readonly leaseMs?: number
}

/**
 * `more`: more can be sent immediately. `waits`: the space waits for a retry. `busy`: another worker has the lease, or
 * the space was already waiting.
 */
export type VisitOutcome = 'more' | 'done' | 'waits' | 'busy'

const LEASE_MS = 45_000

/**
 * With less time left on the lease, nothing more is sent. One target can take a token request, two requests and the
 * creation of its class.
 */
const LAST_MS = 30_000

/** Maximum number of events and of walked passes in one visit. Other spaces are visited before the rest is processed. */
const EVENTS = 100
const PASSES = 50

/** Maximum number of concurrent requests for one space. */
const AT_ONCE = 4

const spanOfUpdate = ({ space, id }: Target): SpanStart => ({
  name: 'update Google Wallet',
  kind: 'consumer',
  attributes: { 'svc.tenant_id': space, 'svc.target_id': id },
})

const describeUpdate = ({ outcome }: SyncOutcome) => ({
  'error.type': outcome === 'done' ? undefined : outcome,
})

/** Creates a function that visits a space: it sends what events and walks require, and records the result. */
export function createVisitor(options: VisitorOptions) {
  const { pool, sync, leaseMs = LEASE_MS } = options

  /** An error counts as refused, so that the target does not block the ones after it. */
  const syncOrRefuse = async (target: Target, { setAside, tracer }: WorkTurn): Promise<SyncOutcome> => {
    try {
      const span = tracer?.resume(target.trace, spanOfUpdate(target))
      const sent = await runInSpan(span, () => sync(target), describeUpdate)
      await setAside.succeeded(target)
      return sent
    } catch (error) {
      await setAside.take(target, error)
      return { outcome: 'refused', status: 0, message: messageOf(error) }
    }
  }

  const sendAll = async (
    targets: readonly Target[],
    results: Map<string, SyncOutcome>,
    isOver: () => boolean,
    turn: WorkTurn,
  ) => {
    const queue = targets.filter(({ id }) => !results.has(id)).values()
    const send = async () => {
      for (const target of queue) {
        if (isOver()) return
        results.set(target.id, await syncOrRefuse(target, turn))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, send))
  }

  /** Each visit performs one step of the first walk, so that a stream of events cannot starve the walks. */
  const readStep = async ({ space, walks }: SpaceVisit): Promise<WalkStep | undefined> => {
    const [walk] = walks
    if (!walk) return undefined
    const passes = await readWalk(pool, space, walk, PASSES)
    return { walk, passes, isEnd: passes.length < PASSES }
  }

  const send = async (visit: SpaceVisit, { fromEvents }: VisitPlan, until: number, turn: WorkTurn) => {
    const results = new Map<string, SyncOutcome>()
    // After one failure the others would probably fail too, so the visit ends early. After MAX_FAILURES it tries all
    // targets, to find out which one is at fault.
    const isOver = () =>
      turn.isStopping() || turn.now() > until || (visit.failures < MAX_FAILURES && hasFailed(results))
    await sendAll(fromEvents.filter(isTemplate), results, isOver, turn)
    await sendAll(fromEvents, results, isOver, turn)
    const step = isOver() ? undefined : await readStep(visit)
    const toTarget = ({ id }: { readonly id: string }) => ({ space: visit.space, id, isNew: false })
    if (step?.walk.class) await sendAll([toTarget({ id: step.walk.template! })], results, isOver, turn)
    await sendAll((step?.passes ?? []).map(toTarget), results, isOver, turn)
    return { results, step }
  }

  return async (space: string, turn: WorkTurn): Promise<VisitOutcome> => {
    const { now } = turn
    const began = now()
    const leaseUntil = began + leaseMs
    const visit = await claimSpace(pool, space, { now: began, until: leaseUntil, token: randomUUID() })
    if (!visit) return 'busy'
    const page = await readNews(pool, space, visit.sequence, EVENTS, CONCERNED_TYPES)
    const isWhole = page.news.length < EVENTS
    const plan = planVisit(visit, page, isWhole)
    const { results, step } = await send(visit, plan, leaseUntil - Math.min(LAST_MS, leaseMs / 2), turn)
    const end = concludeVisit(visit, plan, step, results, now())
    if (!(await endVisit(pool, visit, end, now()))) return 'busy'
    if (end.failures > 0) return 'waits'
    return isWhole && end.walks.length === 0 && end.sequence >= plan.reached ? 'done' : 'more'
  }
}

function hasFailed(results: ReadonlyMap<string, SyncOutcome>): boolean {
  return results.values().some(({ outcome }) => outcome === 'later')
}
