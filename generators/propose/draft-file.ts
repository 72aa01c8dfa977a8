/** Prints the file of a proposed change. */
import type { ProposedChange } from './proposed-change.ts'

/**
 * Returns the text of a change file, with a hole where the author must decide, see `decide`.
 *
 * @param types import paths of the generated types of both versions.
 */
export function printDraft(
  { id, lens, why }: Pick<ProposedChange, 'id' | 'lens' | 'why'>,
  types: { readonly old: string; readonly next: string },
): string {
  const names = /\bdecide\(/.test(lens + why) ? 'between, decide' : 'between'
  return `import type * as Old from '${types.old}'
import type * as New from '${types.next}'
import { ${names} } from 'dateline/change'

const v = between<
  { schemas: Old.components['schemas']; operations: Old.operations },
  { schemas: New.components['schemas']; operations: New.operations }
>()

export default v.change({
  id: '${id}',
  why: ${why},
  lenses: [${lens}],
})
`
}
