/** The progress of batches: what was sent and skipped, and whether that is all. */
import { pipelined } from '../../database/pipelined.ts'
import type { Done, DuePlace } from '../../events/due-work.ts'
import { emit } from '../../events/emit/emit.ts'
import { type PassMessageBatchRow, updateBatch } from './batch-queries.ts'
import { showPassMessageBatch } from './batch-view.ts'
import type { PassMessageRow } from './queries.ts'

type ProgressPlace = Pick<DuePlace, 'db' | 'space' | 'events' | 'now'>

/** Adds settled messages to the counts of their locked batches. Returns the batches that this completes. */
export function countInBatches(
  place: ProgressPlace,
  batches: ReadonlyMap<string, PassMessageBatchRow>,
  settled: readonly Pick<PassMessageRow, 'pass_message_batch_id' | 'status'>[],
): readonly Done[] {
  return [...batches.values()].flatMap((batch) => {
    const own = settled.filter((message) => message.pass_message_batch_id === batch.id)
    if (own.length === 0) return []
    const sent = own.filter(({ status }) => status === 'sent').length
    return writeProgress(place, {
      ...batch,
      sent: batch.sent + sent,
      skipped: batch.skipped + own.length - sent,
    })
  })
}

/** Writes a locked batch, and completes it if all of its messages are queued and settled. */
export function writeProgress(
  { db, space, events, now }: ProgressPlace,
  batch: PassMessageBatchRow,
): readonly Done[] {
  const isEnd = batch.status === 'sending' && batch.sent + batch.skipped === batch.total
  const row: PassMessageBatchRow = { ...batch, status: isEnd ? 'completed' : batch.status, updated: now }
  pipelined(updateBatch(db, space, row))
  if (!isEnd) return []
  const type = 'pass_message_batch.completed'
  emit(events, { type, data: { pass_message_batch: showPassMessageBatch(row) } })
  return [{ id: row.id, action: type }]
}
