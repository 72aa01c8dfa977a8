import { between } from 'dateline/change'
import type * as Old from '../../generated/2026-02-01/types.ts'
import type * as New from '../../generated/2026-05-19/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'report-outdated-codes',
  why:
    'Scans of passes whose barcode rotates have the result `outdated_code` if the code is not the current one. Earlier ' +
    'versions, which cannot create such passes, show `unknown`.',
  lenses: [v.values('ScanResult', { merge: { outdated_code: 'unknown' }, loss: 'merge' })],
  examples: [
    { schema: 'ScanResult', old: 'unknown', new: 'outdated_code', only: 'down' },
    { schema: 'ScanResult', old: 'unknown', new: 'unknown' },
  ],
})
