/** Emits the decoders of requests, and the rows with which operations name them. */
import { type CanonicalOperation, canonicalOperations } from '../../change/canonical.ts'
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Report } from '../../diagnostics/diagnostic.ts'
import { formBodies, jsonBody, validatedArray } from '../../ir/bodies.ts'
import { essenceOf } from '../../ir/media-type.ts'
import type { Api, OutputFile, Schema } from '../../ir/model.ts'
import type { TypeScriptFile } from '../../print/file.ts'
import { stringLiteral } from '../../print/literal.ts'
import { VALUES } from '../../print/runtime.ts'
import { type Decoders, parameterObject, printDecoders } from './decoders.ts'

/** Decoders of the requests of all handlers. */
export interface RequestDecoders {
  readonly files: readonly OutputFile[]
  /**
   * Returns the row of a handler's request, with its functions imported from the folder above the file.
   *
   * @param id the operation in the canonical version.
   * @returns undefined if no type is mapped.
   */
  printRow(id: string, file: TypeScriptFile): string | undefined
}

/** @param apis oldest first. */
export function emitRequestDecoders(
  apis: readonly Api[],
  changes: readonly LoadedChange[],
  report: Report,
): RequestDecoders {
  const operations = canonicalOperations(apis, changes).filter(({ api }) => api.types)
  const byApi = new Map<Api, Decoders>()
  for (const api of new Set(operations.map((each) => each.api))) {
    const own = operations.filter((each) => each.api === api)
    const parts = own.flatMap((each) =>
      [...partsOf(each)].map(([part, schema]) => [nameOf(each, part), schema] as const),
    )
    byApi.set(api, printDecoders(api, 'up', new Map(parts), VALUES, report))
  }
  const byId = new Map(operations.map((each) => [each.operation.id, each]))
  return {
    files: [...byApi].map(([{ version }, { text }]) => ({ path: `${version}/decode.ts`, text })),
    printRow(id, file) {
      const found = byId.get(id)
      if (!found) return undefined
      const use = (part: string) => {
        const name = byApi.get(found.api)!.names.get(nameOf(found, part))
        return name === undefined ? [] : [file.use(name, `../${found.api.version}/decode.ts`)]
      }
      const parts = [...partsOf(found).keys()]
      const forms = parts
        .filter((part) => part.includes('/'))
        .flatMap((part) => use(part).map((name) => `${stringLiteral(part)}: ${name}`))
      const members = [
        ...parts
          .filter((part) => !part.includes('/'))
          .flatMap((part) => use(part).map((name) => `${part}: ${name}`)),
        ...(forms.length > 0 ? [`forms: { ${forms.join(', ')} }`] : []),
      ]
      return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
    },
  }
}

const nameOf = ({ operation }: CanonicalOperation, part: string): string => `${operation.id}_${part}`

/** Returns the schemas of a request's parts, by the names of their row; those of forms by their media types. */
function partsOf({ operation, api }: CanonicalOperation): ReadonlyMap<string, Schema> {
  const parts = new Map<string, Schema>()
  const add = (name: string, schema: Schema | undefined) => void (schema && parts.set(name, schema))
  add('path', parameterObject(operation.parameters, 'path'))
  add('query', parameterObject(operation.parameters, 'query'))
  add('headers', parameterObject(operation.parameters, 'header'))
  const body = jsonBody(operation)?.schema
  const batch = body && validatedArray(api, body)
  if (batch) add('item', batch.items)
  else add('body', body)
  for (const { mediaType, schema } of formBodies(operation)) add(essenceOf(mediaType), schema)
  return parts
}
