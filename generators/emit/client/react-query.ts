/** Emits the options of TanStack Query for the operations of one version, over their functions. */
import { isReading } from '../../ir/methods.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { createFile } from '../../print/file.ts'
import { docComment, literal, member, propertyKey, tagHeading } from '../../print/literal.ts'
import { createTypeNames } from '../types/type-names.ts'
import { countArguments } from '../wire/arguments.ts'
import type { ClientOperationRow } from './rows.ts'

/**
 * Emits the file of a version. An operation that reads is a query, a list also an infinite query, and any other one a
 * mutation. Streams have no options, because a cache cannot hold them.
 *
 * @param renamed by operation id: names of functions whose operation id is not an identifier.
 */
export function printQueries(
  api: Api,
  renamed: ReadonlyMap<string, string>,
  rowOf: (operation: ApiOperation) => ClientOperationRow,
): string {
  const names = createTypeNames()
  const file = createFile([names.claim('keys')])
  const tags = [...new Set(api.operations.map(({ tag }) => tag))]
  file.print(
    '/**',
    ' * Keys of all queries of a resource. To load them again after a change:',
    ' * `queryClient.invalidateQueries({ queryKey: keys.name })`.',
    ' */',
    'export const keys = {',
    ...tags.map((tag) => `  ${propertyKey(tag)}: [${literal(api.version)}, ${literal(tag)}],`),
    '} as const',
  )
  for (const [index, operation] of api.operations.entries()) {
    const { row, listed } = rowOf(operation)
    if (row.streamed) continue
    const called = renamed.get(operation.id) ?? operation.id
    const print = (make: string, suffix: string) => {
      const use = file.use(make, '../runtime/react-query.ts')
      const count = make === 'mutationOf' ? '' : `, ${countArguments(api, operation)}`
      const given = `keys${member(operation.tag)}, ${literal(operation.id)}, ${file.use(called, './functions.ts')}${count}`
      return `export const ${names.claim(called + suffix)} = /* @__PURE__ */ ${use}(${given})`
    }
    file.print(
      '',
      ...tagHeading(operation.tag, api.operations[index - 1]?.tag),
      ...docComment(operation.summary).trimEnd().split('\n').filter(Boolean),
      isReading(operation.method) ? print('queryOf', 'Options') : print('mutationOf', 'MutationOptions'),
      ...(listed ? [print('pagesOf', 'InfiniteOptions')] : []),
    )
  }
  return file.text()
}
