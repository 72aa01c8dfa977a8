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
    act: (place, found) => settle(place, found, parts.clock.machine(), reasonToSkip),
    actOnFailed: (place, failed) => settle(place, [failed], parts.clock.machine(), () => 'failed'),
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
 * Settles due messages. Locks batches, then passes, then messages, as other transactions do. A queued message is sent or
 * skipped; a message that was sent is removed from the pass.
 */
async function settle(
  { db, space, events, now }: DuePlace,
  found: readonly DueMessage[],
  machineNow: number,
  reasonOf: typeof reasonToSkip,
): Promise<readonly Done[]> {
  const batches = await lockBatches(
    db,
    space,
    found.flatMap(({ pass_message_batch_id: id }) => id ?? []),
  )
  const passes = await lockPasses(db, space, [...new Set(found.map(({ pass_id }) => pass_id))])
  const messages = await lockDueMessages(
    db,
    space,
    found.map(({ id }) => id),
    now,
  )
  if (messages.length === 0) return []
  const recent = await countSent(db, space, [...passes.keys()], now - DAY_MS)
  const changed = new Map<string, PassRow>()
  const settled = messages.map((message): SettledMessage => {
    const { pass_id } = message
    const pass = passes.get(pass_id)
    const isEnd = message.status === 'sent'
    const circumstances = {
      pass,
      batch: batches.get(message.pass_message_batch_id ?? ''),
      recent: recent.get(pass_id) ?? 0,
      now,
    }
    const reason = isEnd ? undefined : reasonOf(message, circumstances)
    if (pass && reason === undefined) changed.set(pass_id, { ...pass, ...changeNow(pass, now) })
    if (isEnd) return { ...message, next_at: null, is_shown: false }
    const ended = { ...message, updated: now }
    if (reason !== undefined) return { ...ended, status: 'skipped', reason, next_at: null, is_shown: false }
    recent.set(pass_id, circumstances.recent + 1)
    return { ...ended, status: 'sent', sent_at: now, next_at: message.ends_at, is_shown: true }
  })
  pipelined(writeSettled(db, space, settled))
  if (changed.size > 0) {
    pipelined(updatePasses(db, space, [...changed.values()]))
    tellWallets(db, space, [...changed.values()], machineNow)
    if (settled.some(({ is_shown }) => is_shown)) pipelined(walkMessages(db, space))
  }
  const decided = settled.filter((_, index) => messages[index]!.status === 'queued')
  const done = decided.map((message): Done => {
    const type = message.status === 'sent' ? 'pass_message.sent' : 'pass_message.skipped'
    emit(events, { type, data: { pass_message: showPassMessage(message) } })
    return { id: message.id, action: type }
  })
  return [...done, ...countInBatches({ db, space, events, now }, batches, decided)]
}
