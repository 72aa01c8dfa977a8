/** Whether a value fits a schema: asked of the document's own rules, as the service and its examples are. */
import type { SourceLocation } from '../diagnostics/place.ts'
import { FORMAT_CHECKS } from '../ir/formats.ts'
import type { Api, Property, Schema } from '../ir/model.ts'
import { explain } from '../runtime/explain.ts'
import type { Direction } from '../translate/model.ts'
import { shapeOf } from '../translate/shape.ts'
import { type Mismatch, mismatch } from './closed-reading.ts'

/** @returns the first fault of a value, or undefined if it fits. */
export type ValidityReader = (
  api: Api,
  schema: Schema,
  value: unknown,
  direction: Direction,
) => Mismatch | undefined

/**
 * Fields that do not travel in the direction may be absent, required or not: a request has no read-only property, an
 * answer no write-only one.
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

/** What no schema declares is a fault as well: an untranslated value cannot pass for a translated one. */
export const closedMisfit: ValidityReader = (api, schema, value, direction) => {
  const found = misfit(api, schema, value, direction)
  if (found) return found
  const closed = mismatch(api, schema, value)
  return closed?.issue === 'is not declared' ? closed : undefined
}

/** As it travels: undefined members are gone. */
export const sent = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value))

const tokensOf = (field: string): string[] => [...field.matchAll(/\[\d+\]|[^.[\]]+/g)].map(([token]) => token)

interface FoundSchema {
  readonly readOnly?: boolean
  readonly writeOnly?: boolean
  readonly place: SourceLocation
}

/** @returns the property that a field names, or the schema where it names an item or a value of a map. */
function propertyAt(api: Api, schema: Schema, [first, ...rest]: readonly string[]): FoundSchema | undefined {
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
      return inner && propertyAt(api, inner, rest)
    }
    default:
      return undefined
  }
}
