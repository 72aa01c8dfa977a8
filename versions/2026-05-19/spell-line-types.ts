import { between } from 'dateline/change'
import type * as Old from '../../generated/2026-02-01/types.ts'
import type * as New from '../../generated/2026-05-19/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'spell-line-types',
  why:
    'Settlement line types are in snake_case like every other value: `card_transaction`, not ' +
    '`cardTransaction`. Earlier versions show and filter by the old spelling, in lines and report rows.',
  lenses: [
    v.values('SettlementLineType', {
      rename: {
        cardTransaction: 'card_transaction',
        cardRefund: 'card_refund',
        networkFee: 'network_fee',
        disputeReversal: 'dispute_reversal',
        programFunding: 'program_funding',
      },
    }),
  ],
  examples: [
    { schema: 'SettlementLineType', old: 'cardTransaction', new: 'card_transaction' },
    { schema: 'SettlementLineType', old: 'interchange', new: 'interchange' },
  ],
})
