/** Validates a value with the document's own schema, as the service does. */
import type { SourceLocation } from '../diagnostics/place.ts'
import { FORMAT_CHECKS } from '../ir/formats.ts'
import type { Api, Property, Schema } from '../ir/model.ts'
import { explain } from '../runtime/explain.ts'
import type { Direction } from '../translate/model.ts'
import { shapeOf } from '../translate/shape.ts'
import { type Mismatch, mismatch } from './closed-reading.ts'

/** Returns the first fault of a value, or undefined if it is valid. */
export type ValidityReader = (
  api: Api,
  schema: Schema,
  value: unknown,
  direction: Direction,
) => Mismatch | undefined

/**
 * Validates a value. Required properties may be absent if they do not occur in the direction: read-only properties
 * in requests, write-only properties in responses.
 */
export const misfit: ValidityReader = (api, schema, value, direction) => {
  if (value === null && schema.nullable) return undefined
  for (const { field, issue, keyword } of explain(api.document, schema.place.pointer, value, FORMAT_CHECKS)) {
    const property = propertyAt(api, schema, tokensOf(field))
    const isHidden = direction === 'up' ? property?.readOnly : property?.writeOnly
    if (keyword === 'required' && isHidden) continue
    return { place: property?.place ?? schema.place, field, issue }
  }
  return undefined
}

/** Also reports undeclared properties, so that an untranslated value cannot pass as translated. */
export const closedMisfit: ValidityReader = (api, schema, value, direction) => {
  const found = misfit(api, schema, value, direction)
  if (found) return found
  const closed = mismatch(api, schema, value)
  return closed?.issue === 'is not declared' ? closed : undefined
}

/** Converts a value as sending it does: undefined members are dropped. */
export const sent = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

const tokensOf = (field: string): string[] => [...field.matchAll(/\[\d+\]|[^.[\]]+/g)].map(([token]) => token)

export interface FoundSchema {
  readonly readOnly?: boolean
  readonly writeOnly?: boolean
  readonly place: SourceLocation
}

/** Returns the property that a field names, or the schema for an item or a map value. */
export function propertyAt(
  api: Api,
  schema: Schema,
  [first, ...rest]: readonly string[],
): FoundSchema | undefined {
  if (first === undefined) return schema
  switch (schema.kind) {
    case 'ref': {
      const target = api.schemas.get(schema.name)
      return target && propertyAt(api, target, [first, ...rest])
    }
    case 'array':
      return first.startsWith('[') ? propertyAt(api, schema.items, rest) : undefined
    case 'union':
      for (const member of schema.members) {
        const property = propertyAt(api, member, [first, ...rest])
        if (property) return property
      }
      return undefined
    case 'object':
    case 'intersection': {
      const shape = shapeOf(schema, api, new Set())
      const property: Property | undefined = shape?.properties.get(first)
      if (property && rest.length === 0) return property
      const inner = property?.schema ?? shape?.rest
      if (inner) return propertyAt(api, inner, rest)
      for (const union of shape?.unions ?? []) {
        const found = propertyAt(api, union, [first, ...rest])
        if (found) return found
      }
      return undefined
    }
    case 'any':
      return schema
    default:
      return undefined
  }
}
