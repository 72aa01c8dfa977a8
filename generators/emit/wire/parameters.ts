/** Describes how clients write parameters and servers read them, and finds those that no style supports. */
import type { ParameterRow, ParameterStyle } from '../../client-runtime/service.ts'
import { essenceOf, isJson } from '../../ir/media-type.ts'
import { partsOf } from '../../ir/members.ts'
import type { Api, ApiParameter, ObjectSchema, Scalar, Schema } from '../../ir/model.ts'
import { typeOfSchema } from '../../ir/type-mapping.ts'
import type { ParameterEncoding, ScalarType } from '../../runtime/contract.ts'

/** The styles for each location (Parameter Object, "Style Values"). */
const STYLES: Readonly<Record<ApiParameter['in'], readonly ParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}

/** The reason why a client cannot send a parameter. */
export interface UnwrittenParameter {
  readonly message: string
  readonly hint: string
}

/** Returns how the client's runtime encodes the parameter. */
export function parameterRow(api: Api, parameter: ApiParameter): ParameterRow {
  const { name, in: where, serialization } = parameter
  const { style, explode, allowReserved, mediaType } = serialization
  // An exploded list repeats its name, so no separator is left.
  const written = explode && style.endsWith('Delimited') ? 'form' : style
  const isJsonContent = mediaType !== undefined && isJson(mediaType)
  if (findUnwritten(api, parameter)) return { name, in: where, style: 'none' }
  return {
    name,
    in: where,
    style: STYLES[where].find((each) => each === written) ?? STYLES[where][0]!,
    ...(explode && mediaType === undefined && { explode }),
    ...(allowReserved && where === 'query' && { reserved: true }),
    ...(isJsonContent && { json: true }),
  }
}

/** Returns how a server reads the parameter; undefined if it is one scalar in the default style. */
export function parameterEncoding(api: Api, parameter: ApiParameter): ParameterEncoding | undefined {
  const { in: where, schema, serialization } = parameter
  const { style, explode = false, json } = parameterRow(api, parameter)
  if (json) return { style: 'json' }
  if (style === 'none') return { style }
  const parts = partsOf(api, schema)
  const shapes = shapesOf(api, schema)
  const isAny = shapes.includes('any') || serialization.mediaType !== undefined
  const scalar = isAny || shapes.includes('scalar') ? scalarTypes(api, schema) : undefined
  const list = shapes.includes('array')
    ? mergeTypes(
        parts
          .flatMap((part) => (part.kind === 'array' ? [part.items, ...part.prefix] : []))
          .map((each) => scalarTypes(api, each)),
      )
    : shapes.includes('any')
      ? ['string' as const]
      : undefined
  const objects = parts.filter((part) => part.kind === 'object')
  const object =
    objects.length > 0 ? membersOf(api, objects) : style === 'deepObject' ? OPEN_OBJECT : undefined
  const isUsual = style === STYLES[where][0] && !list && !object
  if (isUsual && scalar?.length === 1) return undefined
  return {
    style,
    ...((explode || style === 'deepObject') && { explode: true }),
    ...(scalar && { scalar }),
    ...(list && { list }),
    ...(object && { object }),
  }
}

const OPEN_OBJECT: NonNullable<ParameterEncoding['object']> = { members: {}, others: ['string'] }

/** Returns the members of the objects that a parameter may be. */
function membersOf(api: Api, objects: readonly ObjectSchema[]): NonNullable<ParameterEncoding['object']> {
  const names = [...new Set(objects.flatMap(({ properties }) => properties.map(({ name }) => name)))]
  const members = names.map((name) => {
    const all = objects.flatMap(({ properties }) => properties.filter((each) => each.name === name))
    return [name, mergeTypes(all.map((each) => scalarTypes(api, each.schema)))] as const
  })
  const others = objects.flatMap(({ additional, patterns }) => [
    ...(additional === 'open'
      ? [['string'] as const]
      : additional === 'closed'
        ? []
        : [scalarTypes(api, additional)]),
    ...patterns.map((each) => scalarTypes(api, each.schema)),
  ])
  return { members: Object.fromEntries(members), ...(others.length > 0 && { others: mergeTypes(others) }) }
}

/** Ordered as conversions are tried; every text is a valid string. */
const SCALAR_TYPES: readonly ScalarType[] = ['boolean', 'integer', 'int64', 'number', 'string']

const mergeTypes = (types: readonly (readonly ScalarType[])[]): ScalarType[] =>
  SCALAR_TYPES.filter((type) => types.some((each) => each.includes(type)))

/** Returns the types that a text may be converted to: those of the schema, or string if it has none. */
export function scalarTypes(api: Api, schema: Schema): ScalarType[] {
  const types = mergeTypes(typesWithin(api, schema, new Set()) ?? [])
  return types.length > 0 ? types : ['string']
}

/** Returns undefined if the schema allows any type. */
function typesWithin(api: Api, schema: Schema, seen: ReadonlySet<string>): ScalarType[][] | undefined {
  if (schema.untyped) return undefined
  switch (schema.kind) {
    case 'ref': {
      const target = api.schemas.get(schema.name)
      if (!target || seen.has(schema.name)) return undefined
      return typesWithin(api, target, new Set([...seen, schema.name]))
    }
    case 'number':
      if (typeOfSchema(api.types, schema) === 'bigint') return [['int64']]
      return [[schema.integer ? 'integer' : 'number']]
    case 'string':
    case 'boolean':
      return [[schema.kind]]
    case 'enum':
      return [schema.values.map(typeOfMember)]
    case 'union':
      return schema.members.flatMap((each) => typesWithin(api, each, seen) ?? [['string']])
    case 'intersection': {
      const [first] = schema.members.flatMap((each) => {
        const found = typesWithin(api, each, seen)
        return found ? [found] : []
      })
      return first
    }
    case 'array':
    case 'object':
    case 'null':
      return []
    default:
      return undefined
  }
}

function typeOfMember(value: Scalar): ScalarType {
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value === 'boolean' ? 'boolean' : 'string'
}

/** Returns whether openapi-fetch encodes the parameter as described, without a row. */
export function isPlainParameter(api: Api, parameter: ApiParameter): boolean {
  const { name, in: where, serialization, schema } = parameter
  if (serialization.mediaType !== undefined) return false
  const shapes = shapesOf(api, schema)
  const isScalar = shapes.every((shape) => shape === 'scalar')
  switch (where) {
    case 'path':
      return serialization.style === 'simple' && isScalar && /^[^.;]/.test(name) && !name.endsWith('*')
    case 'query': {
      const isRepeated = serialization.style === 'form' && serialization.explode && isFlat(api, schema)
      const fits =
        isScalar || (isRepeated && shapes.every((shape) => shape === 'scalar' || shape === 'array'))
      return (
        fits && !serialization.allowReserved && /^[\w.~\-[\]$!'()*,:@/?;]+$/.test(name) && isStyled(parameter)
      )
    }
    case 'header':
      return isScalar
    case 'cookie':
      return false
  }
}

/** Returns why no request can contain the parameter as described, or undefined. */
export function findUnwritten(api: Api, parameter: ApiParameter): UnwrittenParameter | undefined {
  const { in: where, serialization, schema } = parameter
  const { style, explode, mediaType } = serialization
  if (mediaType !== undefined && isJson(mediaType)) return undefined
  const shapes = shapesOf(api, schema)
  const isComposite = shapes.some((shape) => shape === 'array' || shape === 'object')
  if (mediaType !== undefined) {
    if (essenceOf(mediaType) === 'text/plain' && !isComposite) return undefined
    return { message: `has content of ${mediaType}`, hint: 'describe it with `schema`, or with JSON content' }
  }
  if (!isStyled(parameter)) {
    return {
      message: `has the style ${style}, which is not valid there`,
      hint: `use ${STYLES[where].join(', ')}`,
    }
  }
  if (style === 'deepObject' && !shapes.some((shape) => shape === 'object' || shape === 'any')) {
    return { message: 'has the style deepObject but is not an object', hint: 'use `style: form`' }
  }
  const isDelimitedObject = style.endsWith('Delimited') && shapes.includes('object')
  if (explode && isComposite && (isDelimitedObject || where === 'cookie')) {
    return {
      message: `has \`explode: true\`, which ${where === 'cookie' ? 'cookies do' : `${style} does`} not support${where === 'cookie' ? '' : ' for objects'}`,
      hint: 'write `explode: false`',
    }
  }
  if (isComposite && !isFlat(api, schema)) {
    return {
      message: 'has nested lists or objects, which no style supports',
      hint: 'use JSON `content`',
    }
  }
  return undefined
}

function isStyled({ in: where, serialization }: ApiParameter): boolean {
  return STYLES[where].some((style) => style === serialization.style)
}

type ParameterShape = 'scalar' | 'array' | 'object' | 'any'

/** Returns the shapes of values that a schema allows. */
function shapesOf(api: Api, schema: Schema): ParameterShape[] {
  return partsOf(api, schema).map((part) => {
    if (part.untyped || part.kind === 'any' || part.kind === 'never') return 'any'
    return part.kind === 'array' || part.kind === 'object' ? part.kind : 'scalar'
  })
}

/** Returns whether the contents of a schema's lists and objects are scalars, as far as the document declares them. */
function isFlat(api: Api, schema: Schema): boolean {
  return partsOf(api, schema).every((part) => {
    const inside =
      part.kind === 'array'
        ? [part.items, ...part.prefix]
        : part.kind === 'object'
          ? [
              ...part.properties.map((each) => each.schema),
              ...part.patterns.map((each) => each.schema),
              ...(typeof part.additional === 'object' ? [part.additional] : []),
            ]
          : []
    return inside.every((each) => shapesOf(api, each).every((shape) => shape === 'scalar' || shape === 'any'))
  })
}
