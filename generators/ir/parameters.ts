/** Builds parameters and headers of the IR. */
import { isForm } from './media-type.ts'
import type { ApiOperation, ApiParameter, Serialization } from './model.ts'
import { buildSchema, optional } from './schema.ts'
import {
  child,
  entries,
  extensionsOf,
  flag,
  isObject,
  leaveOut,
  once,
  placeOf,
  resolve,
  type Source,
  text,
} from './source.ts'

/** Reports parameters of the path that are not in it, and places in the path that have no parameter. */
export function checkPathParameters(operation: ApiOperation, source: Source): void {
  const named = new Set([...operation.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]))
  for (const parameter of operation.parameters) {
    if (parameter.in === 'path' && !named.delete(parameter.name)) {
      const message = `the path ${operation.path} has no {${parameter.name}}`
      leaveOut(source, 'path-parameter', message, 'correct the path or the parameter')
    }
  }
  for (const name of named) {
    leaveOut(
      source,
      'path-parameter',
      `{${name}} of ${operation.path} is not declared`,
      'declare it under parameters, in: path',
    )
  }
}

/** Reads parameters. Those that cannot be read are reported and left out. */
export function buildParameters(sources: readonly Source[]): ApiParameter[] {
  return sources.flatMap((each) => {
    const at = resolve(each)
    if (!at) return []
    const where = text(at, 'in') ?? 'query'
    if (where === 'querystring') return buildQueryString(at)
    if (!isPlace(where)) {
      leaveOut(
        at,
        'document-shape',
        `in: ${where} is not a parameter location`,
        `use one of ${PLACES.join(', ')}`,
      )
      return []
    }
    return [once(at, 'parameter', () => buildParameter(at, text(at, 'name') ?? '', where))]
  })
}

/**
 * Reads a parameter that describes the whole query string (OpenAPI 3.2). As a form, it is the same as an exploded object in
 * the query.
 */
function buildQueryString(source: Source): ApiParameter[] {
  const [[mediaType, content] = [], ...others] = entries(child(source, 'content'))
  const schema = content && child(resolve(content) ?? content, 'schema')
  if (!schema || others.length > 0 || !isForm(mediaType ?? '')) {
    const message = `the query string ${text(source, 'name') ?? ''} is ${mediaType ?? 'of no media type'}, not a form`
    leaveOut(
      source,
      'parameter-querystring',
      message,
      'use `application/x-www-form-urlencoded` with a schema',
    )
    return []
  }
  const described = { ...source, value: { ...(source.value as object), content: undefined } }
  return [
    once(source, 'parameter', () => ({
      ...buildParameter(described, text(source, 'name') ?? '', 'query'),
      schema: buildSchema(schema),
    })),
  ]
}

const PLACES: readonly string[] = ['path', 'query', 'header', 'cookie'] satisfies ApiParameter['in'][]

const isPlace = (where: string): where is ApiParameter['in'] => PLACES.includes(where)

/** Reads a parameter or a header. */
export function buildParameter(source: Source, name: string, where: ApiParameter['in']): ApiParameter {
  const content = entries(child(source, 'content'))[0]?.[1]
  const schema = child(source, 'schema') ?? (content && child(content, 'schema'))
  const example = isObject(source.value) ? source.value.example : undefined
  return {
    place: placeOf(source),
    name,
    in: where,
    required: flag(source, 'required'),
    deprecated: flag(source, 'deprecated'),
    extensions: extensionsOf(source),
    schema: buildSchema(schema ?? { ...source, value: true }),
    serialization: serializationOf(source, where),
    ...optional('description', text(source, 'description')),
    ...optional('example', example),
  }
}

/**
 * Fills in the defaults of OpenAPI's Parameter Object: `form` for query and cookies, `simple` for paths and
 * headers; only `form` explodes.
 */
function serializationOf(source: Source, where: ApiParameter['in']): Serialization {
  const style = text(source, 'style') ?? (where === 'query' || where === 'cookie' ? 'form' : 'simple')
  const explode = child(source, 'explode')?.value ?? style === 'form'
  const [content] = entries(child(source, 'content'))
  return {
    style,
    explode: explode === true,
    allowReserved: flag(source, 'allowReserved'),
    allowEmptyValue: flag(source, 'allowEmptyValue'),
    ...optional('mediaType', content?.[0]),
  }
}
