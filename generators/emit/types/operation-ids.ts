/**
 * Ids of operations, which openapi-typescript makes references of: it takes `#` and `%` in them for something else, and
 * lists no operation without an id. It gets ids that it can print, which the text is rid of afterwards.
 */
import { idsOf, METHODS } from '../../ir/operation-names.ts'
import { isObject } from '../../ir/source.ts'
import { propertyKey } from '../../print/literal.ts'

const PRINTABLE = /^[\w.-]+$/

/**
 * @param document is changed: each operation has an id after it.
 * @returns what puts the ids of the document into a printed text.
 */
export function makePrintable(document: object): (text: string) => string {
  const operations = operationsIn(document)
  const named = operations.map(({ method, path, operation }) => {
    const { operationId: id } = operation
    return { method, path, id: typeof id === 'string' ? id : undefined }
  })
  const ids = idsOf(named)
  const odd = ids.some((id) => !PRINTABLE.test(id))
  const prefix = odd ? unusedPrefix(JSON.stringify(document)) : ''
  for (const [index, id] of ids.entries())
    operations[index]!.operation.operationId = PRINTABLE.test(id) ? id : `${prefix}${index}_`
  if (!odd) return (text) => text
  return (text) =>
    text.replace(new RegExp(`"${prefix}(\\d+)_"|\\b${prefix}(\\d+)_`, 'g'), (_, quoted, bare) =>
      quoted === undefined ? propertyKey(ids[Number(bare)]!) : JSON.stringify(ids[Number(quoted)]),
    )
}

interface Written {
  readonly method: string
  readonly path: string
  readonly operation: Record<string, unknown>
}

/** Operations that are written out under their path; those behind a reference may belong to several. */
function operationsIn(document: object): Written[] {
  const { paths } = document as { readonly paths?: unknown }
  return Object.entries(isObject(paths) ? paths : {}).flatMap(([path, item]) =>
    Object.entries(isObject(item) ? item : {}).flatMap(([method, operation]): Written[] =>
      METHODS.includes(method) && isObject(operation) && !('$ref' in operation)
        ? [{ method, path, operation: operation as Record<string, unknown> }]
        : [],
    ),
  )
}

/** A text of the document may not be taken for an id. */
function unusedPrefix(text: string): string {
  let prefix = 'operation_'
  while (text.includes(prefix)) prefix += '_'
  return prefix
}
