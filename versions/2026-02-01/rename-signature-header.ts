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
    'Deliveries are signed in `Service-Signature`, without the prefix that RFC 6648 advises against. Tenants pinned to ' +
    'an earlier version go on receiving `X-Service-Signature`; the value is made in the same way.',
  lenses: [v.renamedHeader('X-Service-Signature', 'Service-Signature')],
})
