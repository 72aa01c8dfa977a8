import { between } from 'dateline/change'
import type * as Old from '../../generated/2025-11-01/types.ts'
import type * as New from '../../generated/2026-02-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'require-idempotency-key',
  why:
    'Every POST must have an `Idempotency-Key` header, so that a retry after a lost response never acts twice. ' +
    'In earlier versions, the header is optional.',
  lenses: [v.requiredHeader('Idempotency-Key')],
})
