/** Fans out changes to the devices that have the pass, in steps. Any worker can perform the next step. */
import type { Database } from '../../../../database/database.ts'
import { pipelined } from '../../../../database/pipelined.ts'
import { useIndexes } from '../../../../database/pool/by-index.ts'
import type { Pool } from '../../../../database/pool/pool.ts'
import {
  numberChange,
  type PushLease,
  pushTo,
  type QueuedPush,
} from '../../../passes/registration-queries.ts'
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

/** What a fan-out step may start sending itself. */
export interface StepLease extends PushLease {
  /** Number of pushes. */
  readonly limit: number
}

export interface FanOutStep {
  /** Whether more steps may be pending. */
  readonly more: boolean
  /** The queued pushes that are under the lease. The caller sends them. */
  readonly leased: readonly QueuedPush[]
}

/**
 * Performs one fan-out step for the tenant's changed passes and one for a changed template: numbers the change and
 * queues a push for each device. Both steps share a transaction, so a worker that is killed leaves no partial step.
 *
 * @param lease the caller claims the queued pushes in the same transaction, at least up to the limit: this costs half as
 * much as a claim of its own. Without it, the pushes are queued only.
 */
export async function fanOutToApple(
  pool: Pool,
  space: string,
  lease?: StepLease,
  size = STEP,
): Promise<FanOutStep> {
  if (!(await hasChanges(pool, space, 'apple'))) return { more: false, leased: [] }
  return pool.transaction(async (tx) => {
    useIndexes(tx)
    // Comes first, to avoid deadlocks: while it waits for the number, this transaction holds no lock that a request
    // needs.
    const number = await numberChange(tx, space)
    // A device that two steps notify is sent once, in its last generation.
    const leased = new Map<string, QueuedPush>()
    const perform = async (type: SubjectType, passes: number) => {
      const room = (lease?.limit ?? 0) - leased.size
      const devices = room > 0 ? Math.min(room, size.devices) : size.devices
      const of = { tx, space, number, type, lease: room > 0 ? lease : undefined }
      const { more, queued } = await step(of, { passes, devices })
      for (const push of queued) if (push.token === lease?.token) leased.set(push.target, push)
      return more
    }
    const more = [await perform('pass', size.passes), await perform('template', 1)].includes(true)
    return { more, leased: [...leased.values()] }
  })
}

interface StepOf {
  readonly tx: Database
  readonly space: string
  readonly number: number
  readonly type: SubjectType
  readonly lease: PushLease | undefined
}

async function step(
  { tx, space, number, type, lease }: StepOf,
  size: typeof STEP,
): Promise<{ readonly more: boolean; readonly queued: readonly QueuedPush[] }> {
  const changes = await takeChanges(tx, space, 'apple', type, size.passes)
  if (changes.length === 0) return { more: false, queued: [] }
  const each = Math.ceil(size.devices / changes.length)
  const stretches = changes.map(stretchOf)
  const told =
    type === 'pass'
      ? await listOfPasses(tx, space, stretches, each)
      : await listOfTemplate(tx, space, stretches[0]!, each)
  let queued: readonly QueuedPush[] = []
  if (told.length > 0) {
    pipelined(stamp(tx, space, told, number))
    const traces = new Map(changes.map(({ subject_id, trace }) => [subject_id, trace]))
    const devices = new Map(told.map(({ device_id, subject }) => [device_id, traces.get(subject)]))
    const toNotify = [...devices].map(([id, trace]) => ({ id, trace }))
    const since = Math.min(...changes.map((each) => each.since))
    queued = (await pushTo(tx, space, toNotify, since, lease)).rows
  }
  const bySubject = Map.groupBy(told, ({ subject }) => subject)
  const walks = changes.map((change) => walkOn(change, bySubject.get(change.subject_id) ?? [], each))
  const open = walks.filter((walk) => walk !== undefined)
  const ended = changes.filter((_, at) => walks[at] === undefined).map(({ subject_id }) => subject_id)
  if (ended.length > 0) pipelined(endChanges(tx, space, 'apple', ended))
  if (open.length > 0) pipelined(goOn(tx, space, 'apple', open))
  return { more: true, queued }
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
