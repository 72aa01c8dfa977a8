/** Fans out changes to the devices that have the pass, in steps. Any worker can perform the next step. */
import type { Database } from '../../../../database/database.ts'
import { pipelined } from '../../../../database/pipelined.ts'
import { useIndexes } from '../../../../database/pool/by-index.ts'
import type { Pool } from '../../../../database/pool/pool.ts'
import { numberChange, pushTo } from '../../../passes/registration-queries.ts'
import {
  type ChangedSubject,
  endChanges,
  goOn,
  hasChanges,
  listOfPasses,
  listOfTemplate,
  type PushTarget,
  type Stretch,
  type SubjectType,
  stamp,
  takeChanges,
} from './fan-out-queries.ts'

/** Passes that one step covers, and approximately the devices that it notifies. */
const STEP = { passes: 50, devices: 500 }

/** Sorts after every device ID, which consists of letters, digits, `_`, `.` and `-`. */
export const END = '~'

/**
 * Performs one fan-out step for the tenant's changed passes and one for a changed template: numbers the change and
 * queues a push for each device. Both steps share a transaction, so a worker that is killed leaves no partial step.
 *
 * @returns whether more steps may be pending.
 */
export async function fanOutToApple(pool: Pool, space: string, size = STEP): Promise<boolean> {
  if (!(await hasChanges(pool, space, 'apple'))) return false
  return pool.transaction(async (tx) => {
    useIndexes(tx)
    // Comes first, to avoid deadlocks: while it waits for the number, this transaction holds no lock that a request
    // needs.
    const number = await numberChange(tx, space)
    const steps = [
      await step(tx, space, number, 'pass', size),
      await step(tx, space, number, 'template', { ...size, passes: 1 }),
    ]
    return steps.includes(true)
  })
}

async function step(
  tx: Database,
  space: string,
  number: number,
  type: SubjectType,
  size: typeof STEP,
): Promise<boolean> {
  const changes = await takeChanges(tx, space, 'apple', type, size.passes)
  if (changes.length === 0) return false
  const each = Math.ceil(size.devices / changes.length)
  const stretches = changes.map(stretchOf)
  const told =
    type === 'pass'
      ? await listOfPasses(tx, space, stretches, each)
      : await listOfTemplate(tx, space, stretches[0]!, each)
  if (told.length > 0) {
    pipelined(stamp(tx, space, told, number))
    const traces = new Map(changes.map(({ subject_id, trace }) => [subject_id, trace]))
    const devices = new Map(told.map(({ device_id, subject }) => [device_id, traces.get(subject)]))
    const toNotify = [...devices].map(([id, trace]) => ({ id, trace }))
    pipelined(pushTo(tx, space, toNotify, Math.min(...changes.map(({ since }) => since))))
  }
  const bySubject = Map.groupBy(told, ({ subject }) => subject)
  const walks = changes.map((change) => walkOn(change, bySubject.get(change.subject_id) ?? [], each))
  const open = walks.filter((walk) => walk !== undefined)
  const ended = changes.filter((_, at) => walks[at] === undefined).map(({ subject_id }) => subject_id)
  if (ended.length > 0) pipelined(endChanges(tx, space, 'apple', ended))
  if (open.length > 0) pipelined(goOn(tx, space, 'apple', open))
  return true
}

function stretchOf({ subject_id, walked_to, walk_until, anew }: ChangedSubject): Stretch {
  return { subject: subject_id, after: walked_to, until: anew ? walk_until : END }
}

/**
 * Returns the position of a fan-out after a step with a limit of `limit` registrations; undefined if it is complete.
 */
export function walkOn(
  change: ChangedSubject,
  told: readonly PushTarget[],
  limit: number,
): Pick<ChangedSubject, 'subject_id' | 'walked_to' | 'anew'> | undefined {
  const { subject_id, anew, walk_until } = change
  if (told.length >= limit)
    return {
      subject_id,
      anew,
      walked_to: told
        .map(({ device_id }) => device_id)
        .sort()
        .at(-1)!,
    }
  return anew || walk_until === '' ? undefined : { subject_id, anew: true, walked_to: '' }
}
