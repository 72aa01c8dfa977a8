/** Arguments of an operation's function: path parameters, then the parameters of the request, then call options. */
import type { Wire } from '../../client-runtime/service.ts'
import { isJson } from '../../ir/media-type.ts'
import { partsOf } from '../../ir/members.ts'
import type { Api, ApiOperation, ApiParameter, Schema } from '../../ir/model.ts'
import type { TypeScriptFile } from '../../print/file.ts'
import { propertyKey, stringLiteral } from '../../print/literal.ts'
import { queryType } from '../types/type-names.ts'
import { pathArguments, takesBody } from '../wire/arguments.ts'
import { clientBody } from './bodies.ts'
import { isHeader } from './rows.ts'

const RUNTIME_TYPES = '../runtime/types.ts'

export interface FunctionArguments {
  /** Path parameters in the order of the path. */
  readonly path: readonly { readonly name: string; readonly local: string; readonly type: string }[]
  /** The body, or the query if the operation has no body. */
  readonly params:
    | { readonly part: 'body' | 'query'; readonly type: string; readonly required: boolean }
    | undefined
  readonly options: { readonly type: string; readonly required: boolean }
}

/** Header parameters that callers set, which the client does not send by itself. */
function ownParameters({ parameters }: ApiOperation, wire: Wire, place: ApiParameter['in']): ApiParameter[] {
  return parameters.filter(
    (each) =>
      each.in === place && !isHeader(each, wire.versionHeader) && !isHeader(each, wire.idempotencyHeader),
  )
}

/**
 * Returns the arguments with their types.
 *
 * @param typeOf the type name of a component schema.
 */
export function argumentsOf(
  file: TypeScriptFile,
  api: Api,
  wire: Wire,
  operation: ApiOperation,
  typeOf: (schema: string) => string,
): FunctionArguments {
  const useType = (name: string, from: string) => file.use(name, from, { type: true })
  const own = () => `${useType('operations', './types.ts')}[${stringLiteral(operation.id)}]`
  const path = pathArguments(operation).map(({ name, local, parameter }) => ({
    name,
    local,
    type:
      (parameter && scalarOf(api, parameter.schema)) ??
      `${own()}['parameters']['path'][${stringLiteral(name)}]`,
  }))
  const queried = operation.parameters.filter((each) => each.in === 'query')
  const bodied = takesBody(api, operation)
  const query = () => {
    const name = queryType(api, operation)
    return name === undefined ? `${useType('QueryOf', RUNTIME_TYPES)}<${own()}>` : useType(name, './types.ts')
  }
  const isQueryRequired = queried.some(({ required }) => required)
  const params = bodied
    ? {
        part: 'body' as const,
        type:
          bodyType(api, operation, (name) => useType(typeOf(name), './types.ts')) ??
          `${useType('RequestBodyOf', RUNTIME_TYPES)}<${own()}>`,
        required: operation.body?.required === true,
      }
    : queried.length > 0
      ? { part: 'query' as const, type: query(), required: isQueryRequired }
      : undefined
  const [headers, cookies] = [
    ownParameters(operation, wire, 'header'),
    ownParameters(operation, wire, 'cookie'),
  ]
  const further = [
    ...(bodied && queried.length > 0 ? [[`query`, query(), isQueryRequired] as const] : []),
    ...(headers.length > 0
      ? [
          [
            'headers',
            `${useType('HeadersOf', RUNTIME_TYPES)}<${own()}, Managed>`,
            isAnyRequired(headers),
          ] as const,
        ]
      : []),
    ...(cookies.length > 0
      ? [['cookie', `${useType('CookieOf', RUNTIME_TYPES)}<${own()}>`, isAnyRequired(cookies)] as const]
      : []),
  ]
  const options = useType('RequestOptions', RUNTIME_TYPES)
  const members = further.map(([name, type, required]) => `readonly ${name}${required ? '' : '?'}: ${type}`)
  return {
    path,
    params,
    options: {
      type: members.length === 0 ? options : `${options} & { ${members.join('; ')} }`,
      required: further.some(([, , required]) => required),
    },
  }
}

const isAnyRequired = (parameters: readonly ApiParameter[]) => parameters.some(({ required }) => required)

function bodyType(api: Api, operation: ApiOperation, use: (schema: string) => string): string | undefined {
  const content = clientBody(api, operation)?.content
  if (!content || !isJson(content.mediaType)) return undefined
  const { schema } = content
  return schema.kind === 'ref' && !schema.nullable ? use(schema.name) : undefined
}

/** Returns `string` or `number` for a schema that allows any of these. */
function scalarOf(api: Api, schema: Schema): string | undefined {
  const [only, ...others] = partsOf(api, schema)
  if (!only || others.length > 0 || only.nullable) return undefined
  if (only.kind === 'string') return only.format === undefined || !api.types ? 'string' : undefined
  return only.kind === 'number' && !api.types ? 'number' : undefined
}

/** Prints the parameter list of a function, without its connection. */
export function printParameters({ path, params, options }: FunctionArguments): string[] {
  const isLater = options.required
  return [
    ...path.map(({ local, type }) => `${local}: ${type}`),
    ...(params
      ? [
          isLater && !params.required
            ? `params: ${params.type} | undefined`
            : `params${params.required ? '' : '?'}: ${params.type}`,
        ]
      : []),
    `options${options.required ? '' : '?'}: ${options.type}`,
  ]
}

/** Prints the names of the arguments, to pass them on. */
export const printNames = ({ path, params }: FunctionArguments): string[] => [
  ...path.map(({ local }) => local),
  ...(params ? ['params'] : []),
  'options',
]

/** Prints the input of the runtime's `call`. */
export function printInput({ path, params }: FunctionArguments): string {
  const parts = [
    ...(path.length > 0
      ? [
          `path: { ${path.map(({ name, local }) => (name === local ? local : `${propertyKey(name)}: ${local}`)).join(', ')} }`,
        ]
      : []),
    ...(params ? [params.part === 'body' ? 'body: params' : 'query: params'] : []),
  ]
  return parts.length === 0 ? 'options' : `{ ${parts.join(', ')}, ...options }`
}
