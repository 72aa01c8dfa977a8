/** Faults that change nothing that a tenant or an operator can notice, with the reason. */
interface EquivalentFault {
  readonly file: string
  readonly what: string
  readonly reason: string
}

export const EQUIVALENT: readonly EquivalentFault[] = [
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
