import { between } from 'dateline/change'
import type * as Old from '../../generated/2026-02-01/types.ts'
import type * as New from '../../generated/2026-05-19/types.ts'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: 'return-archived-passes',
  why:
    '`include_archived=true` now returns archived passes. Earlier versions accept the parameter but ignore it, so ' +
    'integrations that always send it get the same lists as before.',
  lenses: [v.ignoredParameter('query', 'include_archived', 'listPasses', 'countPasses')],
})
