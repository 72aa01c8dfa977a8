/** Faults that change nothing that a tenant or an operator can notice, with the reason. */
import { EQUIVALENT_DELIVERIES } from './equivalent-deliveries.ts'
import type { Equivalent } from './equivalent-entry.ts'
import { EQUIVALENT_EVENTS } from './equivalent-events.ts'
import { EQUIVALENT_MONEY } from './equivalent-money.ts'
import type { Mutation } from './mutations.ts'

const EQUIVALENT: readonly Equivalent[] = [
  {
    file: 'runtime/api/idempotency.ts',
    what: 'flip <=: <=',
    reason:
      'only an answer that is 24 hours old to the millisecond is replayed once more; the documentation says 24 hours',
  },
  {
    file: 'runtime/api/idempotency.ts',
    what: '>= for: stored.created > now - STORED_FOR_MS',
    reason:
      'only an answer that is 24 hours old to the millisecond is replayed once more; the documentation says 24 hours',
  },
  ...EQUIVALENT_DELIVERIES,
  ...EQUIVALENT_EVENTS,
  ...EQUIVALENT_MONEY,
  {
    file: 'runtime/events/delivery/worker.ts',
    what: '>= for: leaseClock.now() > leaseUntil - Math.min(ATTEMPT_MS, leaseMs * SHARE_O',
    reason: 'the limit is an estimate, and the times are equal in one millisecond only',
  },
  {
    file: 'runtime/events/delivery/showing.ts',
    what: 'one more: Math.max(0, oldest + afterMs - performance.now())',
    reason: 'a timer that waits at least 1 ms reads the clock when it fires',
  },
  {
    file: 'runtime/events/delivery/retention-job.ts',
    what: '> for: (await sweepDefault(control, of, oldest, BATCH)) >= BATCH',
    reason: 'the next run of the job deletes the rest',
  },
]

/** Returns why a fault changes nothing that anyone can notice, or undefined if no reason is known. */
export function reasonFor({ file, what, sql: statement }: Mutation): string | undefined {
  const isOf = (given: string) => (given.endsWith('/') ? file.startsWith(given) : file === given)
  const isChange = (given: string) =>
    given.endsWith('…') ? what.startsWith(given.slice(0, -1)) : what === given
  const isIn = (given: string | undefined) => given === undefined || statement?.includes(given)
  return EQUIVALENT.find((each) => isOf(each.file) && isChange(each.what) && isIn(each.sql))?.reason
}
