/** Lists the parts of a request that readers can choose when they try an operation. */
import type { Api, ApiOperation, Schema } from '../../ir/model.ts'

/** How the value is chosen: from a list, by ID, with a calendar, or as text. */
export type ChoiceKind = 'values' | 'id' | 'date' | 'date-time' | 'text'

export interface RequestChoice {
  readonly in: 'path' | 'query' | 'body'
  /** Name of the parameter. Names of nested properties of the body are joined by dots. */
  readonly name: string
  readonly kind: ChoiceKind
  /** Allowed values as JSON, or the prefix of the IDs. */
  readonly of: string
}

/** Longer lists are not offered: they would make the page heavy. */
const MAX_VALUES = 60

/** Returns all path and query parameters, and the properties of the body that are more than text. */
export function choicesOf(api: Api, { parameters, body }: ApiOperation): RequestChoice[] {
  const schema = body?.contents[0]?.schema
  const ofBody = schema ? bodyChoices(api, schema, []) : []
  return [
    ...parameters.flatMap((parameter): RequestChoice[] => {
      if (parameter.in !== 'path' && parameter.in !== 'query') return []
      return [{ in: parameter.in, name: parameter.name, ...chosen(api, parameter.schema, parameter.example) }]
    }),
    ...ofBody.filter(({ kind }) => kind !== 'text'),
  ]
}

/** Objects deeper than this are written in the body. It also ends schemas that contain themselves. */
const MAX_DEPTH = 3

function bodyChoices(api: Api, schema: Schema, names: readonly string[]): RequestChoice[] {
  const known = resolve(api, schema)
  if (known.kind === 'object' && names.length < MAX_DEPTH)
    return known.properties
      .filter(({ readOnly }) => !readOnly)
      .flatMap((property) => bodyChoices(api, property.schema, [...names, property.name]))
  return names.length === 0 ? [] : [{ in: 'body', name: names.join('.'), ...chosen(api, known) }]
}

function chosen(api: Api, schema: Schema, example?: unknown): Pick<RequestChoice, 'kind' | 'of'> {
  const known = resolve(api, schema)
  if (known.kind === 'boolean') return { kind: 'values', of: '[true,false]' }
  if (known.kind === 'enum' && known.values.length <= MAX_VALUES)
    return { kind: 'values', of: JSON.stringify(known.values.filter((value) => value !== null)) }
  if (known.kind !== 'string') return { kind: 'text', of: '' }
  // Some documents describe dates by a pattern, so that only the example shows what they are.
  const [day, time] = /^\d{4}-\d\d-\d\d(T.*)?$/.exec(String(example)) ?? []
  const format = day === undefined ? known.format : time === undefined ? 'date' : 'date-time'
  if (format === 'date' || format === 'date-time') return { kind: format, of: '' }
  const prefix = /^\^([a-z]+)_\[/.exec(known.pattern ?? '')?.[1]
  return prefix === undefined ? { kind: 'text', of: '' } : { kind: 'id', of: prefix }
}

/** Follows references, and unions in which only one member is not null. */
function resolve(api: Api, schema: Schema): Schema {
  if (schema.kind === 'ref') {
    const target = api.schemas.get(schema.name)
    return target ? resolve(api, target) : schema
  }
  if (schema.kind !== 'union') return schema
  const members = schema.members.filter(({ kind }) => kind !== 'null')
  return members.length === 1 ? resolve(api, members[0]!) : schema
}
