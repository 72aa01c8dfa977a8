/** Everything that `allOf` puts together, as one object: each property with every place that declares it. */

import type { SourceLocation } from '../diagnostics/place.ts'
import type { Api, ObjectSchema, Property, Schema } from '../ir/model.ts'
import { shapeOf } from './position.ts'

/** One place that declares a property. */
export interface Declaration {
  readonly property: Property
  /** The component that declares it, where `allOf` brought it in. */
  readonly owner?: string
}

/** A property, and every place that declares it: it must satisfy them all. */
export interface MergedProperty extends Declaration {
  readonly declared: readonly Declaration[]
}

/** Everything that a list of schemas says together, all of which must hold. */
export interface Merged {
  readonly place: SourceLocation
  readonly isObject: boolean
  readonly properties: ReadonlyMap<string, MergedProperty>
  readonly objects: readonly ObjectSchema[]
  readonly additional: ObjectSchema['additional']
  /** What is no object. */
  readonly rest: readonly Schema[]
}

/** @param members none of them nested deeper than references and intersections lead. */
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

/** A property that is declared twice must satisfy both; the first that says something stands for it. */
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

/** What one owner says of a property, or all of them. */
export function schemaOf(api: Api, declared: readonly Declaration[]): Schema {
  const schemas = declared.map((each) => each.property.schema)
  const shapes = new Map(schemas.map((each) => [shapeOf(api, each, 3), each]))
  const told = [...shapes.values()].filter((each) => !saysNothing(each))
  if (told.length < 2) return told[0] ?? schemas[0]!
  const { place, deprecated, extensions, examples } = told[0]!
  return { kind: 'intersection', members: told, nullable: false, place, deprecated, extensions, examples }
}
