/**
 * Example values: the document's own examples if there are any, otherwise the simplest value that a schema allows.
 */
import { isJson } from '../../ir/media-type.ts'
import type {
  Api,
  ApiContent,
  ApiParameter,
  ObjectSchema,
  Response,
  Schema,
  StringSchema,
} from '../../ir/model.ts'

/** Means that there is no example; undefined and null are valid values here. */
const NOTHING = Symbol('nothing')

/** Properties that a request, or a response, does not have. */
type Hidden = 'readOnly' | 'writeOnly'

/**
 * Returns an example of a request body, or of a response body if `hidden` is 'writeOnly'; undefined if there is
 * none.
 */
export function sampleContent(api: Api, content: ApiContent, hidden: Hidden = 'readOnly'): unknown {
  if (content.examples.length > 0) return content.examples[0]
  const sample = sampleOf(api, content.schema, [], hidden)
  return sample === NOTHING ? undefined : sample
}

export interface SampleResponse {
  readonly status: string
  readonly mediaType: string
  readonly value: unknown
}

/** Returns an example of the first success response with JSON. */
export function sampleResponse(api: Api, responses: readonly Response[]): SampleResponse | undefined {
  for (const { status, contents } of responses) {
    const content = contents.find(({ mediaType }) => isJson(mediaType))
    if (!status.startsWith('2') || !content) continue
    const value = sampleContent(api, content, 'writeOnly')
    return value === undefined ? undefined : { status, mediaType: content.mediaType, value }
  }
  return undefined
}

/** Returns an example of a parameter's value. */
export function sampleParameter(api: Api, parameter: ApiParameter): unknown {
  if (parameter.example !== undefined) return parameter.example
  const sample = sampleOf(api, parameter.schema, [], 'readOnly')
  return sample === NOTHING ? undefined : sample
}

/** @param above names of the enclosing components, to end recursion. */
function sampleOf(api: Api, schema: Schema, above: readonly string[], hidden: Hidden): unknown {
  if (schema.examples.length > 0) return schema.examples[0]
  if (schema.default !== undefined) return schema.default
  switch (schema.kind) {
    case 'ref': {
      const target = api.schemas.get(schema.name)
      if (target && !above.includes(schema.name))
        return sampleOf(api, target, [...above, schema.name], hidden)
      return schema.nullable ? null : NOTHING
    }
    case 'object':
      return sampleObject(api, schema, above, hidden)
    case 'array': {
      const items = schema.prefix.length > 0 ? schema.prefix : [schema.items]
      return items.map((item) => sampleOf(api, item, above, hidden)).filter((sample) => sample !== NOTHING)
    }
    case 'union':
      return schema.members[0] ? sampleOf(api, schema.members[0], above, hidden) : NOTHING
    case 'intersection':
      return Object.assign(
        {},
        ...schema.members.map((member) => objectOr(sampleOf(api, member, above, hidden))),
      )
    case 'enum':
      return schema.values[0] ?? null
    case 'string':
      return sampleString(schema)
    case 'number':
      return schema.minimum ?? schema.exclusiveMinimum ?? 0
    case 'boolean':
      return true
    case 'null':
      return null
    case 'any':
    case 'never':
      return NOTHING
  }
}

/** Includes required properties, and optional ones that have an example in the document. */
function sampleObject(
  api: Api,
  schema: ObjectSchema,
  above: readonly string[],
  hidden: Hidden,
): Record<string, unknown> {
  const sample: Record<string, unknown> = {}
  for (const { name, required, schema: inside, [hidden]: isHidden } of schema.properties) {
    if (isHidden) continue
    if (!required && inside.examples.length === 0) continue
    const value = sampleOf(api, inside, above, hidden)
    if (value !== NOTHING) sample[name] = value
  }
  return sample
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  email: 'name@example.com',
  uri: 'https://example.com',
  url: 'https://example.com',
  uuid: '0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0',
  hostname: 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
}

function sampleString({ format }: StringSchema): string {
  return (format !== undefined ? FORMATS[format] : undefined) ?? 'string'
}

function objectOr(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
