/** Stages of chargebacks, which the network reports for disputes that tenants have submitted. */
import type { components } from '../../../generated/network/2026-12-01/types.ts'
import { readOpenSettlement } from '../../money/settlement-lines/queries.ts'
import { lockCard } from '../cards/queries.ts'
import { writeChange } from '../disputes/changes.ts'
import { lockDisputesOf } from '../disputes/queries.ts'
import { close, review } from '../disputes/states.ts'
import { type FactExchange, MessageException } from './exchange.ts'
import { readKnownUse } from './known-uses.ts'

/** Moves the dispute to the stage. A dispute that has reached it stays as it is. */
export async function moveChargeback({
  message,
  cardId,
  transact,
}: FactExchange<'moveChargeback'>): Promise<components['schemas']['Acknowledgement']> {
  const { transaction_id: networkId, message_id, stage, dispute_id: disputeId } = message
  await transact(async (place) => {
    const { db, space, now } = place
    const [card, { row }] = await Promise.all([
      lockCard(db, space, cardId),
      readKnownUse(db, space, networkId, cardId),
    ])
    if (!card || !row)
      throw new MessageException('unknown_transaction', 'The transaction is unknown.', 'transaction_id')
    const submitted = await lockDisputesOf(db, space, row.id, ['submitted', 'under_review', 'won', 'lost'])
    const named = submitted.filter(({ id }) => disputeId === undefined || id === disputeId)
    const dispute = named.find(({ closed_at }) => closed_at === null)
    // A review that is reported after the end changes nothing: the end is final.
    if (named.some(({ status }) => status === stage || (stage === 'under_review' && !dispute))) return
    if (!dispute)
      throw new MessageException('unknown_dispute', 'The transaction has no submitted dispute.', 'dispute_id')
    const after = stage === 'under_review' ? review(dispute, now) : close(dispute, stage, now)
    const open = await readOpenSettlement(db, space)
    await writeChange({ ...place, open }, dispute, after)
    place.done(`dispute.${stage}`, dispute.id)
  })
  return { message_id, outcome: 'applied' }
}
