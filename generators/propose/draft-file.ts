/** Prints the file of a proposed change. */
import type { ProposedChange } from './proposed-change.ts'

/**
 * Returns the text of a change file, with `…` where the author must fill in a value.
 *
 * @param types import paths of the generated types of both versions.
 */
export function printDraft(
  { id, lens }: Pick<ProposedChange, 'id' | 'lens'>,
  types: { readonly old: string; readonly next: string },
): string {
  return `import type * as Old from '${types.old}'
import type * as New from '${types.next}'
import { between } from 'dateline/change'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: '${id}',
  why: '…',
  lenses: [${lens}],
})
`
}
