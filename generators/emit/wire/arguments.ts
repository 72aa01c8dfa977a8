/** Arguments of an operation's function: path parameters, then the parameters of the request, then call options. */
import { partsOf } from '../../ir/members.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { camelCase, identifier, snakeCase } from '../../ir/naming.ts'

/** Values of a sample request, in the parts that the arguments consist of. */
export interface ArgumentValues {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly header: Readonly<Record<string, unknown>>
  readonly body: { readonly value: unknown } | undefined
  readonly idempotencyKey?: string | undefined
}

const RESERVED_LOCALS = ['connection', 'params', 'options']

/** Names the path parameters of an operation for programs, in the order of the path. */
export function pathArguments({ path, parameters }: ApiOperation) {
  const declared = new Map(parameters.filter((each) => each.in === 'path').map((each) => [each.name, each]))
  const taken = new Set(RESERVED_LOCALS)
  return Array.from(path.matchAll(/\{([^}]+)\}/g), ([, name = '']) => {
    let local = identifier(camelCase(snakeCase(name)))
    while (taken.has(local)) local = `${local}_`
    taken.add(local)
    return { name, local, parameter: declared.get(name) }
  })
}

/** Whether the operation takes a body with members. An empty body is left out. */
export function takesBody(api: Api, operation: ApiOperation): boolean {
  const contents = operation.body?.contents ?? []
  if (contents.length === 0) return false
  const parts = contents.flatMap(({ schema }) => partsOf(api, schema))
  const isEmpty =
    parts.length > 0 &&
    parts.every(
      (part) => part.kind === 'object' && part.properties.length === 0 && part.additional === 'closed',
    )
  return operation.body?.required === true || !isEmpty
}

/** Returns the part of the request that has an argument of its own; undefined if the operation takes neither. */
export function paramsPart(api: Api, operation: ApiOperation): 'body' | 'query' | undefined {
  if (takesBody(api, operation)) return 'body'
  return operation.parameters.some((each) => each.in === 'query') ? 'query' : undefined
}

/** Returns the number of arguments before the call options. */
export const countArguments = (api: Api, operation: ApiOperation): number =>
  pathArguments(operation).length + (paramsPart(api, operation) ? 1 : 0)

/**
 * Returns the values of a call's arguments for a sample request; undefined for an argument that is left out.
 */
export function sampleArguments(
  api: Api,
  operation: ApiOperation,
  values: ArgumentValues,
): readonly unknown[] {
  const path = pathArguments(operation).map(({ name }) => values.path[name])
  const bodied = takesBody(api, operation)
  const params = bodied ? values.body?.value : emptyAsUndefined(values.query)
  const options = emptyAsUndefined({
    ...(bodied && Object.keys(values.query).length > 0 && { query: values.query }),
    ...(Object.keys(values.header).length > 0 && { headers: values.header }),
    ...(values.idempotencyKey !== undefined && { idempotencyKey: values.idempotencyKey }),
  })
  const all = [...path, ...(paramsPart(api, operation) ? [params] : []), options]
  while (all.length > 0 && all.at(-1) === undefined) all.pop()
  return all
}

const emptyAsUndefined = (value: Readonly<Record<string, unknown>>) =>
  Object.keys(value).length === 0 ? undefined : value
