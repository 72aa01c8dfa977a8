/** Merges the parts of `allOf` into one object: each property with all its declarations. */

import type { SourceLocation } from '../diagnostics/place.ts'
import type { Api, ObjectSchema, Property, Schema } from '../ir/model.ts'
import { shapeOf } from './position.ts'

/** One declaration of a property. */
export interface Declaration {
  readonly property: Property
  /** The component that declares it, if it came through `allOf`. */
  readonly owner?: string
}

/** A property with all its declarations; a value must satisfy all of them. */
export interface MergedProperty extends Declaration {
  readonly declared: readonly Declaration[]
}

/** Several schemas merged into one; a value must satisfy all of them. */
export interface Merged {
  readonly place: SourceLocation
  readonly isObject: boolean
  readonly properties: ReadonlyMap<string, MergedProperty>
  readonly objects: readonly ObjectSchema[]
  readonly additional: ObjectSchema['additional']
  /** Schemas that are not objects. */
  readonly rest: readonly Schema[]
}

/**
 * Merges schemas.
 *
 * @param members merged through references and intersections.
 */
export function merge(api: Api, members: readonly Schema[]): Merged {
  const properties = new Map<string, MergedProperty>()
  const objects: ObjectSchema[] = []
  const rest: Schema[] = []
  const gather = (schema: Schema, owner: string | undefined, seen: readonly string[]): void => {
    if (schema.kind === 'object') {
      objects.push(schema)
      for (const property of schema.properties) hold(properties, property, owner)
    } else if (schema.kind === 'intersection') for (const each of schema.members) gather(each, owner, seen)
    else if (schema.kind === 'ref') {
      const target = api.schemas.get(schema.name)
      if (!target || seen.includes(schema.name)) return
      if (leadsToObject(api, target, [...seen, schema.name]))
        gather(target, schema.name, [...seen, schema.name])
      else rest.push(schema)
    } else rest.push(schema)
  }
  for (const member of members) gather(member, undefined, [])
  const closed = objects.some((each) => each.additional === 'closed')
  const map = objects
    .map((each) => each.additional)
    .find((each) => typeof each === 'object' && !saysNothing(each))
  return {
    place: members[0]!.place,
    isObject: objects.length > 0,
    properties,
    objects,
    additional: closed ? 'closed' : (map ?? 'open'),
    rest,
  }
}

function leadsToObject(api: Api, schema: Schema, seen: readonly string[]): boolean {
  if (schema.kind === 'object') return true
  if (schema.kind === 'intersection') return schema.members.some((each) => leadsToObject(api, each, seen))
  const target =
    schema.kind === 'ref' && !seen.includes(schema.name) ? api.schemas.get(schema.name) : undefined
  return target !== undefined && schema.kind === 'ref' && leadsToObject(api, target, [...seen, schema.name])
}

/** Merges a property into the map. If it is declared twice, the first declaration with constraints represents it. */
function hold(properties: Map<string, MergedProperty>, property: Property, owner: string | undefined): void {
  const known = properties.get(property.name)
  const own: Declaration = owner === undefined ? { property } : { property, owner }
  if (!known) return void properties.set(property.name, { ...own, declared: [own] })
  const base = saysNothing(known.property.schema) ? own : known
  const merged = {
    ...base.property,
    required: known.property.required || property.required,
    readOnly: known.property.readOnly || property.readOnly,
    writeOnly: known.property.writeOnly || property.writeOnly,
  }
  properties.set(property.name, { ...base, property: merged, declared: [...known.declared, own] })
}

const saysNothing = (schema: Schema): boolean => schema.kind === 'any' && !schema.unheld

/** Returns the schema of one or several declarations of a property. */
export function schemaOf(api: Api, declared: readonly Declaration[]): Schema {
  const schemas = declared.map((each) => each.property.schema)
  const shapes = new Map(schemas.map((each) => [shapeOf(api, each, 3), each]))
  const told = [...shapes.values()].filter((each) => !saysNothing(each))
  if (told.length < 2) return told[0] ?? schemas[0]!
  const { place, deprecated, extensions, examples } = told[0]!
  return { kind: 'intersection', members: told, nullable: false, place, deprecated, extensions, examples }
}
