/** Messages of the card network that could not take effect. They wait for an operator, so that none is lost. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import type { CardKeys } from '../card-keys/card-keys.ts'
import type { NetworkMessages } from './network.ts'

/** Why a message is an exception, and what an operator can do. */
export const EXCEPTION_REASONS = {
  unreadable_line: 'Ask the network for a corrected line in a later file, then resolve this exception.',
  invalid_message: 'Ask the network for a corrected line in a later file, then resolve this exception.',
  unknown_card:
    'Check whether the number was issued here. If it was, restore the card and retry; if not, return the item to the network.',
  unsupported_currency: 'Return the item to the network: cards are billed in usd.',
  unknown_transaction: 'Retry after the message that begins the transaction has arrived.',
  unknown_dispute: 'Check the dispute with the network, then retry or resolve this exception.',
  above_cleared:
    'Check the cleared amount with the network. Retry after a missing clearing has arrived, or return the item.',
  beyond_bounds: 'Check the amount with the network. If it is right, retry on the next day.',
  not_allowed: 'Check the state of the card transaction, then retry or resolve this exception.',
  waiting:
    'The message takes effect by itself when the clearing that it refers to arrives. If none comes, return the item to the network.',
  failed: 'Find the cause with the detail of this exception and correct it, then retry.',
} as const

export type ExceptionReason = keyof typeof EXCEPTION_REASONS

/** A message that could not take effect. */
export interface NewException {
  readonly environment: Environment
  readonly reason: ExceptionReason
  /** What is wrong, for people. Must not contain a card number. */
  readonly detail: string
  /** The member of the message that is wrong. */
  readonly field?: string | undefined
  /** Operation of the network document; absent if a line could not be read. */
  readonly kind?: keyof NetworkMessages | undefined
  readonly message?: NetworkMessages[keyof NetworkMessages][0] | undefined
  /** The interchange category that the network names. */
  readonly category?: string | undefined
  /** The line of a clearing file; absent for a message of its own. */
  readonly place?: { readonly fileId: string; readonly line: number } | undefined
}

// A resolved exception stays resolved if the network repeats the message.
const RECORD: Statement = {
  text: `INSERT INTO control.network_exceptions (environment, id, file_id, line, message_id, transaction_id, kind, card_digest,
                card_last4, reason, field, detail, message, created)
         SELECT r.environment, r.id, r.file_id, r.line, r.message_id, r.transaction_id, r.kind, decode(r.card_digest, 'hex'),
                r.card_last4, r.reason, r.field, r.detail, r.message, r.created
           FROM json_to_recordset($1) AS r (environment text, id text, file_id text, line bigint, message_id text,
                transaction_id text, kind text, card_digest text, card_last4 text, reason text, field text, detail text,
                message json, created timestamptz)
         ON CONFLICT DO NOTHING`,
}

/**
 * Records exceptions. A message that is recorded already stays as it is, so the caller can repeat the call.
 * @param control the owner's connection.
 * @param now machine time.
 */
export async function recordExceptions(
  control: Database,
  digest: CardKeys['digest'],
  exceptions: readonly NewException[],
  now: number,
): Promise<void> {
  if (exceptions.length === 0) return
  const describe = async ({ place, message, category, ...exception }: NewException) => {
    const { card_number, ...rest } = { card_number: undefined, ...message }
    return {
      ...exception,
      id: newId('nex', now),
      file_id: place?.fileId,
      line: place?.line,
      message_id: message?.message_id,
      transaction_id: 'transaction_id' in rest ? rest.transaction_id : undefined,
      card_digest: card_number && (await digest(card_number)).toString('hex'),
      card_last4: card_number && (card_number as string).slice(-4),
      message: message && { ...rest, interchange_category: category },
      created: toTimestamp(now),
    }
  }
  const rows = await Promise.all(exceptions.map(describe))
  await control.query(RECORD, [JSON.stringify(rows)])
}

/** Records one exception; `recordExceptions` describes the parameters. */
export function recordException(
  control: Database,
  digest: CardKeys['digest'],
  exception: NewException,
  now: number,
): Promise<void> {
  return recordExceptions(control, digest, [exception], now)
}
