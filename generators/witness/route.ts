/** Finds the way from the root of a message to the schema at which two versions differ. */
import type { Api, Property, Schema } from '../ir/model.ts'

/** One step into a schema. Steps through references, unions and intersections do not go deeper into the value. */
export type Step =
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'item'; readonly index: number }
  /** An entry of a map, under a certain name if only that one shows the difference. */
  | { readonly kind: 'entry'; readonly name?: string }
  | { readonly kind: 'entry-of-pattern'; readonly pattern: string }
  | { readonly kind: 'entry-name' }
  | { readonly kind: 'member'; readonly index: number }
  | { readonly kind: 'part'; readonly index: number }
  | { readonly kind: 'target' }

/** A schema and the step that led to it. */
export interface Stop {
  readonly schema: Schema
  readonly step?: Step
}

/** From the root to the schema, both included. */
export type SchemaRoute = readonly Stop[]

/** The property names and indices that lead to a part of a value. */
export type ValuePath = readonly (string | number)[]

/** Which properties a message never has. */
export type Hidden = 'readOnly' | 'writeOnly'

interface Waiting extends Stop {
  readonly from?: Waiting
}

/**
 * Returns the shortest route to the schema or property with the pointer, or undefined if the root does not lead to it.
 *
 * @param hidden properties that the message does not have are not entered.
 */
export function findRoute(api: Api, root: Schema, pointer: string, hidden: Hidden): SchemaRoute | undefined {
  const waiting: Waiting[] = [{ schema: root }]
  const entered = new Set<Schema>()
  for (const at of waiting) {
    if (at.schema.place.pointer === pointer) return routeTo(at)
    if (entered.has(at.schema)) continue
    entered.add(at.schema)
    for (const next of stopsAfter(api, at.schema, hidden, pointer)) waiting.push({ ...next, from: at })
  }
  return undefined
}

function routeTo(last: Waiting): SchemaRoute {
  const stops: Stop[] = []
  for (let at: Waiting | undefined = last; at; at = at.from)
    stops.push({ schema: at.schema, ...(at.step && { step: at.step }) })
  return stops.reverse()
}

function stopsAfter(api: Api, schema: Schema, hidden: Hidden, pointer: string): Stop[] {
  switch (schema.kind) {
    case 'ref': {
      const target = api.schemas.get(schema.name)
      return target ? [{ schema: target, step: { kind: 'target' } }] : []
    }
    case 'object': {
      const properties = schema.properties.filter((property) => !property[hidden])
      return [
        ...properties.map((property) => stopAt(property, pointer)),
        ...schema.patterns.map(
          ({ pattern, schema: inside }): Stop => ({
            schema: inside,
            step: { kind: 'entry-of-pattern', pattern },
          }),
        ),
        ...(typeof schema.additional === 'object'
          ? [{ schema: schema.additional, step: { kind: 'entry' } } satisfies Stop]
          : []),
        ...(schema.propertyNames
          ? [{ schema: schema.propertyNames, step: { kind: 'entry-name' } } satisfies Stop]
          : []),
      ]
    }
    case 'array':
      return [...schema.prefix, schema.items].map((inside, index) => ({
        schema: inside,
        step: { kind: 'item', index },
      }))
    case 'union':
      return schema.members.map((inside, index) => ({ schema: inside, step: { kind: 'member', index } }))
    case 'intersection':
      return schema.members.map((inside, index) => ({ schema: inside, step: { kind: 'part', index } }))
    default:
      return []
  }
}

/** The place of a property can differ from that of its schema, for example if the schema is an intersection. */
function stopAt({ name, place, schema }: Property, pointer: string): Stop {
  const found = place.pointer === pointer && schema.place.pointer !== pointer
  return { schema: found ? { ...schema, place } : schema, step: { kind: 'property', name } }
}
