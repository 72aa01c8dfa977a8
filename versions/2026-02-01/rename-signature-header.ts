import { between } from 'dateline/change'
import type * as Old from '../../generated/2025-11-01/types.ts'
import type * as New from '../../generated/2026-02-01/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'rename-signature-header',
  why:
    'The webhook signature is in the header `Service-Signature`, without the `X-` prefix that RFC 6648 deprecates. ' +
    'Tenants pinned to an earlier version still receive `X-Service-Signature`; the value is computed in the same way.',
  lenses: [v.renamedHeader('X-Service-Signature', 'Service-Signature')],
})
