/** How clients write the parameters of a document: what a row says of one, and which of them no client can write. */
import type { ParameterRow, ParameterStyle } from '../../client-runtime/service.ts'
import { essenceOf, isJson } from '../../ir/media-type.ts'
import { partsOf } from '../../ir/members.ts'
import type { Api, ApiParameter, Schema } from '../../ir/model.ts'

/** The styles of each place (Parameter Object, "Style Values"). */
const STYLES: Readonly<Record<ApiParameter['in'], readonly ParameterStyle[]>> = {
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
}

/** What is wrong with a parameter, for a client. */
export interface UnwrittenParameter {
  readonly message: string
  readonly hint: string
}

/** @returns how the client's runtime writes the parameter, in full. */
export function parameterRow(api: Api, parameter: ApiParameter): ParameterRow {
  const { name, in: where, serialization } = parameter
  const { style, explode, allowReserved, mediaType } = serialization
  const isJsonContent = mediaType !== undefined && isJson(mediaType)
  if (findUnwritten(api, parameter)) return { name, in: where, style: 'none' }
  return {
    name,
    in: where,
    style: STYLES[where].find((each) => each === style) ?? STYLES[where][0]!,
    ...(explode && mediaType === undefined && { explode }),
    ...(allowReserved && where === 'query' && { reserved: true }),
    ...(isJsonContent && { json: true }),
  }
}

/** @returns whether openapi-fetch writes the parameter as the document says, without a row. */
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

/** @returns why no request can carry the parameter as the document has it; undefined if one can. */
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
      message: `has a style of other places, ${style}`,
      hint: `write one of ${STYLES[where].join(', ')}`,
    }
  }
  if (style === 'deepObject' && !shapes.some((shape) => shape === 'object' || shape === 'any')) {
    return { message: 'is not an object, which its style deepObject is for', hint: 'write `style: form`' }
  }
  if (explode && isComposite && (style.endsWith('Delimited') || where === 'cookie')) {
    return {
      message: `explodes, which ${where === 'cookie' ? 'cookies have no separator for' : `${style} has no form for`}`,
      hint: 'write `explode: false`',
    }
  }
  if (isComposite && !isFlat(api, schema)) {
    return {
      message: 'holds lists or objects inside others, which no style can write',
      hint: 'write it with JSON `content`',
    }
  }
  return undefined
}

function isStyled({ in: where, serialization }: ApiParameter): boolean {
  return STYLES[where].some((style) => style === serialization.style)
}

type ParameterShape = 'scalar' | 'array' | 'object' | 'any'

/** @returns what the values of a schema may be. */
function shapesOf(api: Api, schema: Schema): ParameterShape[] {
  return partsOf(api, schema).map((part) => {
    if (part.untyped || part.kind === 'any' || part.kind === 'never') return 'any'
    return part.kind === 'array' || part.kind === 'object' ? part.kind : 'scalar'
  })
}

/** Whether what the lists and objects of a schema hold is scalar, as far as the document says. */
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
