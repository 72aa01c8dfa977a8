/**
 * A strict validator: in responses too, properties that the schema does not declare are faults. So an untranslated
 * value cannot pass as translated. Faults name the line of the document that they violate.
 */
import type { SourceLocation } from '../diagnostics/place.ts'
import { FORMAT_CHECKS } from '../ir/formats.ts'
import type { Api, ObjectSchema, Property, Schema } from '../ir/model.ts'
import { isMultiple, patternOf } from '../runtime/explain/scalars.ts'
import { shapeOf } from '../translate/shape.ts'

export interface Mismatch {
  readonly place: SourceLocation
  readonly field: string
  readonly issue: string
}

/** Returns the first fault, or undefined if the value fits. */
export function mismatch(api: Api, schema: Schema, value: unknown, field = ''): Mismatch | undefined {
  if (value === null && schema.nullable) return undefined
  const fault = (issue: string): Mismatch => ({ place: schema.place, field, issue })
  switch (schema.kind) {
    case 'any':
      return undefined
    case 'never':
      return fault('must be absent')
    case 'null':
      return value === null ? undefined : fault('must be null')
    case 'boolean':
      return typeof value === 'boolean' ? undefined : fault('must be true or false')
    case 'number':
      return typeof value === 'number' && fitsNumber(schema, value)
        ? undefined
        : fault('is not a valid number')
    case 'string':
      return typeof value === 'string' && fitsString(schema, value)
        ? undefined
        : fault(`is not a valid string: ${JSON.stringify(value)}`)
    case 'enum':
      return schema.values.includes(value as string)
        ? undefined
        : fault(`does not list ${JSON.stringify(value)}`)
    case 'array':
      return mismatchOfList(api, schema, value, field)
    case 'object':
      return mismatchOfObject(api, schema, schema.properties, value, field)
    case 'union': {
      const faults = schema.members.map((member) => mismatch(api, member, value, field))
      const deepest = faults.toSorted((a, b) => (b?.field.length ?? 0) - (a?.field.length ?? 0))[0]
      return faults.includes(undefined) ? undefined : deepest
    }
    case 'intersection': {
      const shape = shapeOf(schema, api, new Set())
      // Values that are not objects, and properties of union members, are checked only by the validator.
      if (!shape || shape.unions.length > 0) return undefined
      return mismatchOfObject(api, schema, [...shape.properties.values()], value, field)
    }
    case 'ref':
      return mismatch(api, api.schemas.get(schema.name)!, value, field)
  }
}

function fitsNumber(schema: Extract<Schema, { kind: 'number' }>, value: number): boolean {
  return (
    (!schema.integer || Number.isInteger(value)) &&
    value >= (schema.minimum ?? Number.NEGATIVE_INFINITY) &&
    value <= (schema.maximum ?? Number.POSITIVE_INFINITY) &&
    value > (schema.exclusiveMinimum ?? Number.NEGATIVE_INFINITY) &&
    value < (schema.exclusiveMaximum ?? Number.POSITIVE_INFINITY) &&
    (schema.multipleOf === undefined || isMultiple(value, schema.multipleOf))
  )
}

function fitsString(schema: Extract<Schema, { kind: 'string' }>, value: string): boolean {
  if (value.length < (schema.minLength ?? 0) || value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY))
    return false
  if (schema.pattern !== undefined && !patternOf(schema.pattern).test(value)) return false
  return schema.format === undefined || (FORMAT_CHECKS[schema.format]?.(value) ?? true)
}

function mismatchOfList(
  api: Api,
  schema: Extract<Schema, { kind: 'array' }>,
  value: unknown,
  field: string,
): Mismatch | undefined {
  const fault = (issue: string): Mismatch => ({ place: schema.place, field, issue })
  if (!Array.isArray(value)) return fault('must be a list')
  if (value.length < (schema.minItems ?? 0)) return fault('has too few members')
  if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY)) return fault('has too many members')
  for (const [index, item] of value.entries()) {
    const found = mismatch(api, schema.items, item, `${field}[${index}]`)
    if (found) return found
  }
  return undefined
}

function mismatchOfObject(
  api: Api,
  schema: Schema,
  properties: readonly Property[],
  value: unknown,
  field: string,
): Mismatch | undefined {
  const fault = (issue: string): Mismatch => ({ place: schema.place, field, issue })
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fault('must be an object')
  const given = value as Record<string, unknown>
  const below = (name: string) => (field === '' ? name : `${field}.${name}`)
  const declared = new Map(properties.map((property) => [property.name, property]))
  for (const property of properties) {
    if (!Object.hasOwn(given, property.name)) {
      if (property.required)
        return { place: property.place, field: below(property.name), issue: 'is missing' }
      continue
    }
    const found = mismatch(api, property.schema, given[property.name], below(property.name))
    if (found) return found
  }
  const rest = (schema as Partial<ObjectSchema>).additional
  // An object without declared properties accepts any.
  if (properties.length === 0 && rest === 'open') return undefined
  for (const name of Object.keys(given)) {
    if (declared.has(name)) continue
    if (typeof rest !== 'object') return { ...fault('is not declared'), field: below(name) }
    const found = mismatch(api, rest, given[name], below(name))
    if (found) return found
  }
  return undefined
}

const tokensOf = (field: string): string[] => [...field.matchAll(/\[\d+\]|[^.[\]]+/g)].map(([token]) => token)

/** Returns whether the field of an error, such as `fields[0].key`, exists in the schema. */
export const hasField = (api: Api, schema: Schema, field: string): boolean =>
  hasTokens(api, schema, tokensOf(field))

function hasTokens(api: Api, schema: Schema, tokens: readonly string[]): boolean {
  const [first, ...rest] = tokens
  if (first === undefined) return true
  switch (schema.kind) {
    case 'ref':
      return hasTokens(api, api.schemas.get(schema.name)!, tokens)
    case 'array':
      return first.startsWith('[') && hasTokens(api, schema.items, rest)
    case 'union':
      return schema.members.some((member) => hasTokens(api, member, tokens))
    case 'object':
    case 'intersection': {
      const shape = shapeOf(schema, api, new Set())
      const property = shape?.properties.get(first)
      if (property) return hasTokens(api, property.schema, rest)
      return shape?.rest ? hasTokens(api, shape.rest, rest) : false
    }
    default:
      return schema.kind === 'any'
  }
}
