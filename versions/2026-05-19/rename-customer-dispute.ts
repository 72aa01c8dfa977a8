import { between } from 'dateline/change'
import type * as Old from '../../generated/2026-02-01/types.ts'
import type * as New from '../../generated/2026-05-19/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'rename-customer-dispute',
  why:
    'The dispute reason `customer_dispute` is now `customer_complaint`, the card networks’ own term, so that reports match ' +
    'network files. Earlier versions read, write and filter by the old name.',
  lenses: [v.values('DisputeReason', { rename: { customer_dispute: 'customer_complaint' } })],
  examples: [
    { schema: 'DisputeReason', old: 'customer_dispute', new: 'customer_complaint' },
    { schema: 'DisputeReason', old: 'fraudulent', new: 'fraudulent' },
  ],
})
