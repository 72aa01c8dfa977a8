/** Finds the transaction of a card use, and messages that arrived before it. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import {
  type CardTransactionRow,
  TRANSACTION_COLUMNS,
  type TransactionMessage,
} from '../transactions/queries.ts'
import { MessageException } from './exchange.ts'

/** What has arrived of a card use. */
export interface KnownUse {
  readonly row: CardTransactionRow | undefined
  /** In the order of arrival. */
  readonly waiting: readonly TransactionMessage[]
}

const READ: Statement = {
  name: 'network_known_use',
  text: `SELECT w.waiting, t.* FROM (
           SELECT (SELECT json_agg(w.message ORDER BY w.created, w.message_id) FROM network_waiting w
                    WHERE w.tenant_id = $1 AND w.network_id = $2) AS waiting) AS w
           LEFT JOIN LATERAL (
             SELECT ${TRANSACTION_COLUMNS} FROM card_transactions t WHERE t.tenant_id = $1 AND t.network_id = $2
           ) AS t ON true`,
  many: {
    text: `SELECT g.place, w.waiting, t.* FROM json_to_recordset($2) AS g (place integer, v2 text)
            CROSS JOIN LATERAL (
              SELECT (SELECT json_agg(w.message ORDER BY w.created, w.message_id) FROM network_waiting w
                       WHERE w.tenant_id = $1 AND w.network_id = g.v2) AS waiting) AS w
             LEFT JOIN LATERAL (
               SELECT ${TRANSACTION_COLUMNS} FROM card_transactions t WHERE t.tenant_id = $1 AND t.network_id = g.v2
             ) AS t ON true`,
  },
}

/**
 * Reads a use of a card. The caller has locked the card, which every change of a transaction locks first. Throws
 * `MessageException` if the use belongs to another card.
 */
export async function readKnownUse(
  db: Database,
  tenantId: string,
  networkId: string,
  cardId: string,
): Promise<KnownUse> {
  const { rows } = await db.query<CardTransactionRow & { waiting: readonly TransactionMessage[] | null }>(
    READ,
    [tenantId, networkId],
  )
  const { waiting, ...row } = rows[0]!
  if (row.id !== null && row.card_id !== cardId)
    throw new MessageException('not_allowed', 'The transaction belongs to another card.', 'transaction_id')
  return { row: row.id === null ? undefined : row, waiting: waiting ?? [] }
}

const WAIT: Statement = {
  name: 'network_waiting_insert',
  text: `INSERT INTO network_waiting (tenant_id, network_id, message_id, card_id, message, created)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
}

/** Keeps a message until the transaction that it is about begins. A repeated message is kept once. */
export function keepWaiting(
  db: Database,
  tenantId: string,
  networkId: string,
  cardId: string,
  message: TransactionMessage,
): Promise<unknown> {
  const values = [message.id, cardId, JSON.stringify(message), toTimestamp(message.created)]
  return db.query(WAIT, [tenantId, networkId, ...values])
}

const END_WAITING: Statement = {
  name: 'network_waiting_delete',
  text: 'DELETE FROM network_waiting WHERE tenant_id = $1 AND network_id = $2',
}

/** Removes the messages that waited, because the transaction has taken them. */
export function endWaiting(db: Database, tenantId: string, networkId: string): Promise<unknown> {
  return db.query(END_WAITING, [tenantId, networkId])
}
