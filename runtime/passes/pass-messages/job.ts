/**
 * Sends due messages, and removes messages from passes when they end. The change, its event, its audit entry and the
 * count of the batch are one transaction, so no message is sent twice.
 */
import { pipelined } from '../../database/pipelined.ts'
import { type Done, type DueParts, type DuePlace, dueWorker } from '../../events/due-work.ts'
import { emit } from '../../events/emit/emit.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { changeNow } from '../passes/changed.ts'
import { lockPasses, type PassRow, updatePasses } from '../passes/queries.ts'
import { isLive, statusAt } from '../passes/status.ts'
import { tellWallets } from '../passes/wallet-queue.ts'
import { countInBatches } from './batch-progress.ts'
import { lockBatches, type PassMessageBatchRow } from './batch-queries.ts'
import { DAY_MS, MAX_IN_A_DAY } from './limit.ts'
import type { PassMessageRow } from './queries.ts'
import { showPassMessage } from './view.ts'
import {
  countSent,
  type DueMessage,
  findDueInBatches,
  findDueMessages,
  lockDueMessages,
  type SettledMessage,
  walkMessages,
  writeSettled,
} from './work-queries.ts'

/** Messages found by one statement and sent in one transaction. */
const BATCH = 200

const POLL_MS = 250

/** Declares the worker. A message that causes an error is skipped, and does not stop the others. */
export function passMessageWorker(parts: DueParts): DeclaredWorker {
  return dueWorker<DueMessage>(parts, {
    name: 'pass_messages',
    finds: [findDueMessages, findDueInBatches],
    batch: BATCH,
    pollMs: POLL_MS,
    act: (place, found) => settle(place, found, parts.clock.machine()),
    actOnFailed: skipFailed,
  })
}

type Reason = NonNullable<PassMessageRow['reason']>

/** What decides whether a message is sent. */
interface Circumstances {
  readonly pass: PassRow | undefined
  readonly batch: PassMessageBatchRow | undefined
  /** Number of messages that the pass had in the last 24 hours. */
  readonly recent: number
  readonly now: number
}

/** Returns why a message is not sent; undefined if it is. */
function reasonToSkip(
  message: PassMessageRow,
  { pass, batch, recent, now }: Circumstances,
): Reason | undefined {
  if (batch?.status === 'canceled') return 'canceled'
  if (message.ends_at !== null && message.ends_at <= now) return 'too_late'
  if (!pass || !isLive(statusAt(pass, now)) || pass.archived_at !== null) return 'pass_ended'
  if (pass.messages_opted_out_at !== null) return 'opted_out'
  if (pass.platforms.length === 0) return 'not_installed'
  return recent >= MAX_IN_A_DAY ? 'daily_limit' : undefined
}

/**
 * Settles due messages: a queued message is sent or skipped, and a message that was sent is removed from the pass. Locks
 * batches, then passes, then messages, as other transactions do.
 */
async function settle(
  place: DuePlace,
  found: readonly DueMessage[],
  machineNow: number,
): Promise<readonly Done[]> {
  const { db, space, now } = place
  const batches = await lockBatchesOf(place, found)
  const passes = await lockPasses(db, space, [...new Set(found.map(({ pass_id }) => pass_id))])
  const messages = await lockMessages(place, found)
  const recent = await countSent(db, space, [...passes.keys()], now - DAY_MS)
  const changed = new Map<string, PassRow>()
  const settled = messages.map((message): SettledMessage => {
    const { pass_id } = message
    const pass = passes.get(pass_id)
    const count = recent.get(pass_id) ?? 0
    const batch = batches.get(message.pass_message_batch_id ?? '')
    const isEnd = message.status === 'sent'
    const reason = isEnd ? undefined : reasonToSkip(message, { pass, batch, recent: count, now })
    if (reason !== undefined) return skipped(message, reason, now)
    if (pass) changed.set(pass_id, { ...pass, ...changeNow(pass, now) })
    if (isEnd) return { ...message, next_at: null, is_shown: false }
    recent.set(pass_id, count + 1)
    return {
      ...message,
      status: 'sent',
      sent_at: now,
      updated: now,
      next_at: message.ends_at,
      is_shown: true,
    }
  })
  if (changed.size > 0) {
    pipelined(updatePasses(db, space, [...changed.values()]))
    tellWallets(db, space, [...changed.values()], machineNow)
  }
  if (settled.some(({ is_shown }) => is_shown)) pipelined(walkMessages(db, space))
  return conclude(place, batches, messages, settled)
}

/** Skips a message that caused an error. Its pass is neither read nor written. */
async function skipFailed(place: DuePlace, failed: DueMessage): Promise<readonly Done[]> {
  const batches = await lockBatchesOf(place, [failed])
  const messages = await lockMessages(place, [failed])
  const settled = messages.map((message) =>
    message.status === 'sent'
      ? { ...message, next_at: null, is_shown: false }
      : skipped(message, 'failed', place.now),
  )
  return conclude(place, batches, messages, settled)
}

function lockBatchesOf({ db, space }: DuePlace, found: readonly DueMessage[]) {
  const ids = found.flatMap(({ pass_message_batch_id: id }) => id ?? [])
  return lockBatches(db, space, ids)
}

function lockMessages({ db, space, now }: DuePlace, found: readonly DueMessage[]) {
  const ids = found.map(({ id }) => id)
  return lockDueMessages(db, space, ids, now)
}

function skipped(message: PassMessageRow, reason: Reason, now: number): SettledMessage {
  return { ...message, status: 'skipped', reason, updated: now, next_at: null, is_shown: false }
}

/** Writes settled messages with their events, and counts them in their batches. */
function conclude(
  place: DuePlace,
  batches: ReadonlyMap<string, PassMessageBatchRow>,
  messages: readonly PassMessageRow[],
  settled: readonly SettledMessage[],
): readonly Done[] {
  if (settled.length > 0) pipelined(writeSettled(place.db, place.space, settled))
  const decided = settled.filter((_, index) => messages[index]!.status === 'queued')
  const done = decided.map((message): Done => {
    const type = message.status === 'sent' ? 'pass_message.sent' : 'pass_message.skipped'
    emit(place.events, { type, data: { pass_message: showPassMessage(message) } })
    return { id: message.id, action: type }
  })
  return [...done, ...countInBatches(place, batches, decided)]
}
