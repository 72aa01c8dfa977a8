/**
 * Queues the messages of batches, a page of passes in each transaction. The position is written with the messages, so a
 * lost process or a second node queues no message twice. `job.ts` sends them.
 */
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'
import { type Done, type DueParts, type DuePlace, dueWorker } from '../../events/due-work.ts'
import { newId } from '../../platform/ids.ts'
import type { DeclaredWorker } from '../../work/workers.ts'
import { listPasses } from '../passes/queries.ts'
import { writeProgress } from './batch-progress.ts'
import { lockBatches, type PassMessageBatchRow } from './batch-queries.ts'
import { dueAt } from './queries.ts'

const POLL_MS = 250

/** Passes of one transaction. With one transaction per poll, this also limits how fast a batch is queued. */
const PAGE = 1000

/** Declares the worker. A batch whose page fails is set aside, and does not stop the others. */
export function passMessageBatchWorker(parts: DueParts): DeclaredWorker {
  return dueWorker<QueuingBatch>(parts, {
    name: 'pass_message_batches',
    finds: [findQueuingBatches],
    pollMs: POLL_MS,
    isSingle: true,
    act: (place, [found]) => queuePage(place, found!.id),
  })
}

interface QueuingBatch {
  readonly tenant_id: string
  readonly id: string
}

const FIND: Statement = {
  name: 'pass_message_batches_find_queuing',
  text: `SELECT tenant_id, id FROM pass_message_batches b
          WHERE status = 'queuing' AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = b.tenant_id)
          ORDER BY updated LIMIT $1`,
}

/** Finds batches of all tenants whose messages are not all queued. */
async function findQueuingBatches(
  db: Database,
  _now: number,
  limit: number,
): Promise<readonly QueuingBatch[]> {
  return (await db.query<QueuingBatch>(FIND, [limit])).rows
}

async function queuePage(place: DuePlace, id: string): Promise<readonly Done[]> {
  const { db, space, now } = place
  const batch = (await lockBatches(db, space, [id])).get(id)
  if (batch?.status !== 'queuing') return []
  const { rows, hasMore } = await readPassesAfter(db, space, batch, now)
  if (rows.length > 0) {
    const messages = rows.map((pass) => ({ id: newId('pmg', now), pass_id: pass.id }))
    pipelined(queueMessages(db, space, batch, messages, now))
  }
  const { created: after_created, id: after_id } = rows.at(-1) ?? {
    created: batch.after_created,
    id: batch.after_id,
  }
  return writeProgress(place, {
    ...batch,
    status: hasMore ? 'queuing' : 'sending',
    total: batch.total + rows.length,
    after_created,
    after_id,
  })
}

/** Reads the next passes that match the filter and existed when the batch was created, in order of creation. */
function readPassesAfter(
  db: Database,
  space: string,
  { filter: { template_id, status }, created, after_created, after_id }: PassMessageBatchRow,
  now: number,
) {
  const filter = {
    ...(template_id !== undefined && { template_id: [template_id] }),
    ...(status !== undefined && { status: [status] }),
    created: { lte: created },
  }
  const boundary =
    after_created === null || after_id === null
      ? undefined
      : ({ created: after_created, id: after_id, side: 'after' } as const)
  const page = { limit: PAGE, order: 'asc', backward: false, ...(boundary && { boundary }) } as const
  return listPasses(db, space, filter, page, now)
}

const QUEUE: Statement = {
  name: 'pass_messages_queue',
  text: `INSERT INTO pass_messages (tenant_id, id, pass_id, pass_message_batch_id, header, body, translations, starts_at, ends_at,
                                    status, next_at, created, updated)
         SELECT b.tenant_id, n.id, n.pass_id, b.id, b.header, b.body, b.translations, b.starts_at, b.ends_at,
                'queued', $4::timestamptz, $5::timestamptz, $5::timestamptz
           FROM pass_message_batches b, json_to_recordset($3) AS n (id text, pass_id text)
          WHERE b.tenant_id = $1 AND b.id = $2`,
}

function queueMessages(
  db: Database,
  space: string,
  { id, starts_at }: PassMessageBatchRow,
  messages: readonly { readonly id: string; readonly pass_id: string }[],
  now: number,
): Promise<unknown> {
  const times = [dueAt({ starts_at, created: now }), now].map(toTimestamp)
  return db.query(QUEUE, [space, id, JSON.stringify(messages), ...times])
}
