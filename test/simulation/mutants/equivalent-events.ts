/** Faults in the events of the runtime that change nothing that a tenant or an operator can notice. */
import { all, type Equivalent } from './equivalent-entry.ts'

export const EQUIVALENT_EVENTS: readonly Equivalent[] = [
  ...all(
    'runtime/events/emit/streams.ts',
    'it decides only how often a stream looks without a wake-up, and how much it reads at once',
    'one more: POLL_MS = 500',
    'one more: BATCH = 100',
  ),
  ...all(
    'runtime/events/emit/streams.ts',
    'the next look, half a second later, ends a stream whose client is gone; its place is free at once',
    "drop: response?.once('close', lookAgain)",
  ),
  ...all(
    'runtime/events/emit/streams.ts',
    'the timer resolves a promise that is resolved already',
    'drop: clearTimeout(timer)',
  ),
  ...all(
    'runtime/events/emit/wake-ups.ts',
    'a wake-up takes 1 ms longer, and 201 tenants of 31 bytes fit into a notification, too',
    'one more: PAUSE_MS = 20',
    'one more: MAX_TENANTS = 200',
  ),
  ...all(
    'runtime/events/webhook-recoveries/pages.ts',
    'it decides only how many events one statement reads',
    'twice: COUNTED_AT_ONCE = 10_000',
    'twice: SEARCHED_AT_ONCE = 2000',
  ),
  ...all(
    'runtime/events/webhook-recoveries/queries.ts',
    'more events around the period are compared, and those outside of it are not sent',
    'twice: AROUND = 5000',
  ),
  ...all(
    'runtime/events/webhook-recoveries/job.ts',
    'a poll finds a batch that has ended; a wake-up only saves the wait for it',
    'drop: open.set(rows[0]!.endpoint_id, count)',
    'drop: queued(next.queued.length, at)',
    '+ for: (open.get(endpointId) ?? 0) - 1',
    'one more: (open.get(endpointId) ?? 0) - 1',
    'one more: open.get(endpointId) ?? 0',
    '>= for: left > 0',
    'one more: left > 0',
    'never: if (left > 0)',
    'drop: open.set(endpointId, left)',
    'drop: worker.wake(environment)',
    'never: if (open.delete(endpointId))',
  ),
  ...all(
    'runtime/events/webhook-recoveries/job.ts',
    'the statements get an empty list, and queue nothing',
    '>= for: chosen.length > 0',
  ),
  ...all(
    'runtime/events/webhook-recoveries/job.ts',
    'a timer waits at least 1 ms',
    'one more: Math.max(0, at - parts.clock.machine())',
  ),
  ...all(
    'runtime/events/webhook-endpoints/handlers.ts',
    'a generation only has to differ from the one before',
    'one more: row.generation + 1',
  ),
]
