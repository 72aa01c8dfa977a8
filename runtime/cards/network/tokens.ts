/** Wallet tokens that the network reports: cards on phones. */
import type { components } from '../../../generated/network/2026-12-01/types.ts'
import { pipelined } from '../../database/pipelined.ts'
import { lockCard } from '../cards/queries.ts'
import { lockAwaitingOf } from '../provisioning/queries.ts'
import { addToken } from '../provisioning/stand-in-job.ts'
import { writeToken } from '../wallet-tokens/changes.ts'
import { lockNetworkToken, noteReport } from '../wallet-tokens/queries.ts'
import { sentOf } from './deciding.ts'
import { MessageException, type NetworkExchange } from './exchange.ts'

/**
 * Gives a token the reported status. The first report creates the token. A report that is older than the last one changes
 * nothing, unless it deletes the token. A deleted token stays deleted.
 */
export async function changeToken({
  message,
  cardId,
  transact,
}: NetworkExchange<'changeToken'>): Promise<components['schemas']['Acknowledgement']> {
  const { message_id, token_reference: reference, wallet, status } = message
  const { at } = sentOf(message)
  await transact(async (place) => {
    const { db, space, events, now } = place
    const [card, known, payload] = await Promise.all([
      lockCard(db, space, cardId),
      lockNetworkToken(db, space, reference),
      lockAwaitingOf(db, space, cardId, wallet),
    ])
    if (!card) throw new MessageException('unknown_card', 'The card does not exist.', 'card_number')
    const isOld = known && status !== 'deleted' && (known.network_at ?? 0) >= at
    if (known?.status === 'deleted' || isOld) return
    const { network_at: _, ...token } = known ?? {
      network_at: null,
      ...addToken({ db, space, events, now }, cardId, payload, wallet),
    }
    pipelined(noteReport(db, space, token.id, reference, at))
    if (token.status !== status)
      writeToken({ caller: { space }, db, events }, token, { ...token, status, updated: now })
    place.done(`wallet_token.${known ? 'updated' : 'created'}`, token.id)
  })
  return { message_id, outcome: 'applied' }
}
