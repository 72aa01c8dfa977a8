/**
 * Emits a function for each operation of one version, so that debuggers can step into it and bundlers can drop
 * unused ones.
 */
import type { Wire } from '../../client-runtime/service.ts'
import { streamOf } from '../../ir/bodies.ts'
import { isJson } from '../../ir/media-type.ts'
import { partsOf, propertiesNamed } from '../../ir/members.ts'
import type { Api, ApiOperation, ApiParameter, Schema } from '../../ir/model.ts'
import { taggedStability } from '../../ir/stability.ts'
import { createFile, type TypeScriptFile } from '../../print/file.ts'
import { docComment, literal, tagHeading } from '../../print/literal.ts'
import { createPage, type ReferencePage } from '../reference/page.ts'
import { callOf } from '../reference/typescript.ts'
import { claimAll, createTypeNames, schemaTypes } from '../types/type-names.ts'
import { refusalTypes } from '../wire/error-catalogue.ts'
import { argumentsOf, printInput, printParameters } from './arguments.ts'
import { type ClientOperationRow, createRows, isHeader, printRow } from './rows.ts'
import { isEventSchema } from './webhooks.ts'

export interface PrintedFunctions {
  readonly text: string
  /** By operation id: names of functions whose operation id is not an identifier. */
  readonly renamed: ReadonlyMap<string, string>
}

/**
 * Emits the functions of a version.
 *
 * @param walked whether lists support `for await`.
 * @param classes names of the error classes, by `type`.
 * @param decoders names of the functions that decode answers, by operation id, if types are mapped.
 */
export function printFunctions(
  api: Api,
  wire: Wire,
  walked: boolean,
  classes: ReadonlyMap<string, string>,
  decoders?: ReadonlyMap<string, string>,
): PrintedFunctions {
  const functions = claimAll(
    api.operations.map(({ id }) => id),
    createTypeNames(),
  )
  const file = createFile([...functions.values(), 'Managed', 'connection', 'params', 'options'])
  const page = createPage(api, wire, '', [])
  const rowOf = createRows(api, wire, walked)
  const types = schemaTypes(api.schemas.keys())
  const managed = managedHeaders(api, wire)
  if (takesHeaders(api, wire)) file.print(MANAGED, `type Managed = ${managed}`)
  for (const [index, operation] of api.operations.entries()) {
    const titles = tagHeading(operation.tag, api.operations[index - 1]?.tag)
    if (titles.length > 0) file.print('', ...titles)
    const name = functions.get(operation.id)!
    file.print(
      '',
      ...printFunction(file, page, operation, rowOf(operation), name, { types, classes, decoders }),
    )
  }
  const renamed = new Map([...functions].filter(([id, name]) => id !== name))
  return { text: api.operations.length > 0 ? file.text() : 'export {}\n', renamed }
}

export const MANAGED = '/** Header parameters that the client sets automatically. */'

interface PrintedNames {
  /** Type names of schemas, by schema name. */
  readonly types: ReadonlyMap<string, string>
  readonly classes: ReadonlyMap<string, string>
  readonly decoders: ReadonlyMap<string, string> | undefined
}

function printFunction(
  file: TypeScriptFile,
  page: ReferencePage,
  operation: ApiOperation,
  of: ClientOperationRow,
  name: string,
  { types, classes, decoders }: PrintedNames,
): string[] {
  const { api, wire } = page
  const connection = `connection: ${file.use('ServiceConnection', '../runtime/connect.ts', { type: true })}`
  const taken = argumentsOf(file, api, wire, operation, (schema) => types.get(schema)!)
  const call = file.use(of.reader ? 'stream' : of.listed ? 'list' : 'call', '../runtime/connect.ts')
  return [
    ...docComment(describe(page, operation, classes))
      .trimEnd()
      .split('\n'),
    `export function ${name}(${[connection, ...printParameters(taken)].join(', ')}): ${answerOf(file, page, operation, of, types)} {`,
    `  return ${call}(connection, ${printRow(file, of, decoders && { decoder: decoders.get(operation.id) })}, ${printInput(taken)})`,
    '}',
  ]
}

/** Prints the type that a function returns. */
export function answerOf(
  file: TypeScriptFile,
  { api, wire }: ReferencePage,
  operation: ApiOperation,
  of: ClientOperationRow,
  types: ReadonlyMap<string, string>,
): string {
  const useType = (type: string, from: string) => file.use(type, from, { type: true })
  const useSchema = (name: string | undefined) => {
    if (name === undefined || !types.has(name)) return undefined
    // The schema of all events does not say what each contains.
    return isEventSchema(api, name)
      ? useType('WebhookEvent', './events.ts')
      : useType(types.get(name)!, './types.ts')
  }
  const own = () => `${useType('operations', './types.ts')}[${literal(operation.id)}]`
  if (of.reader) {
    const item = useSchema(nameOf(streamOf(operation)!.items!.items))
    return item
      ? `${useType('StreamCall', '../runtime/call.ts')}<${item}>`
      : `${useType('StreamResult', '../runtime/types.ts')}<${own()}>`
  }
  const items = literal(wire.page.items)
  const result = resultOf(api, operation, of.listed ? wire.page.items : undefined)
  const [body, item] = [useSchema(result?.body), useSchema(result?.item)]
  if (of.listed) {
    if (!body || !item) return `${useType('ListResult', '../runtime/types.ts')}<${own()}, ${items}>`
    const page = isEventSchema(api, result!.item!)
      ? `${useType('PageOf', '../runtime/types.ts')}<${body}, ${items}, ${item}>`
      : body
    return `${useType('ListCall', '../runtime/call.ts')}<${page}, ${item}>`
  }
  return body
    ? `${useType('Call', '../runtime/call.ts')}<${body}>`
    : `${useType('Result', '../runtime/types.ts')}<${own()}>`
}

/** Returns the schema names of the only success body and of its list items. */
function resultOf(
  api: Api,
  { responses }: ApiOperation,
  items: string | undefined,
): { readonly body: string; readonly item: string | undefined } | undefined {
  const contents = responses.filter(({ status }) => status.startsWith('2')).flatMap((each) => each.contents)
  const [only, ...others] = contents
  const body = only && others.length === 0 && isJson(only.mediaType) ? nameOf(only.schema) : undefined
  if (!only || body === undefined || responses.filter(({ status }) => status.startsWith('2')).length > 1)
    return undefined
  const [list, ...lists] = items === undefined ? [] : propertiesNamed(api, only.schema, items)
  const [part, ...parts] = list && lists.length === 0 ? partsOf(api, list.schema) : []
  return { body, item: part?.kind === 'array' && parts.length === 0 ? nameOf(part.items) : undefined }
}

const nameOf = (schema: Schema | undefined): string | undefined =>
  schema?.kind === 'ref' && !schema.nullable ? schema.name : undefined

export function describe(
  page: ReferencePage,
  operation: ApiOperation,
  classes: ReadonlyMap<string, string>,
): string {
  const { summary, description, method, path, deprecated } = operation
  const stability = taggedStability(page.api, operation)
  const thrown = refusalTypes(operation, page.wire).map((type) => classes.get(type) ?? 'ResponseError')
  const tags = [
    ...(thrown.length > 0 ? [`@throws {${thrown.join(' | ')}}`] : []),
    ...(deprecated ? ['@deprecated'] : []),
    ...(stability === 'stable' ? [] : [`@${stability}`]),
    `@example\n\`\`\`ts\n${awaited(operation, callOf(page, operation))}\n\`\`\``,
  ]
  return [summary, description, `\`${method} ${path}\``, tags.join('\n')]
    .filter((part) => part !== undefined)
    .join('\n\n')
}

const awaited = (operation: ApiOperation, call: string): string =>
  streamOf(operation)?.items ? `for await (const item of ${call}) console.log(item)` : `await ${call}`

/** Prints the union of the names of header parameters that the client sends by itself. */
export function managedHeaders(api: Api, wire: Wire): string {
  const parameters = api.operations.flatMap((operation) => operation.parameters)
  const managed = parameters.filter((each) => isManaged(each, wire))
  return [...new Set(managed.map((each) => each.name))].map(literal).join(' | ') || 'never'
}

/** Whether callers set header parameters of an operation. */
const takesHeaders = (api: Api, wire: Wire): boolean =>
  api.operations.some(({ parameters }) =>
    parameters.some((each) => each.in === 'header' && !isManaged(each, wire)),
  )

function isManaged(parameter: ApiParameter, wire: Wire): boolean {
  return isHeader(parameter, wire.versionHeader) || isHeader(parameter, wire.idempotencyHeader)
}
