/** Puts a value at the end of a route into the simplest value around it. */
import type { Schema } from '../ir/model.ts'
import { isObject } from '../runtime/explain/walk.ts'
import type { SchemaRoute, Step, ValuePath } from './route.ts'
import { type Maker, membersOf, NOTHING, simplest, tagged, textLike } from './simplest.ts'

/** A value with the names and indices that lead to its varied part. */
interface EmbeddedValue {
  readonly value: unknown
  readonly path: ValuePath
}

/** Marks the absence of a property or an item. */
export const ABSENT: unique symbol = Symbol('absent')

/**
 * Returns the simplest value of the route's first schema that has the given value at the end of the route, or undefined
 * if no value can be made around it.
 */
export function embed(maker: Maker, route: SchemaRoute, leaf: unknown): EmbeddedValue | undefined {
  const [first, ...rest] = route
  const made = around(maker, first!.schema, rest, leaf)
  return made === undefined || made.value === NOTHING || made.value === ABSENT ? undefined : made
}

function around(maker: Maker, schema: Schema, rest: SchemaRoute, leaf: unknown): EmbeddedValue | undefined {
  const [next, ...after] = rest
  if (!next) return { value: leaf, path: [] }
  const inside = around(maker, next.schema, after, leaf)
  if (!inside) return undefined
  const { value, path } = inside
  const step = next.step!
  switch (step.kind) {
    case 'target':
      return inside
    case 'member':
      return schema.kind === 'union'
        ? { value: tagged(maker, schema, schema.members[step.index]!, value), path }
        : inside
    case 'part':
      return { value: mergedWith(maker, schema, step.index, value), path }
    case 'item':
      return { value: listWith(maker, schema, step.index, value), path: [step.index, ...path] }
    default:
      return objectWith(maker, schema, step, inside)
  }
}

/** Adds what the other parts of an intersection require to an object. In place of a union, the value is a member. */
function mergedWith(maker: Maker, schema: Schema, index: number, value: unknown): unknown {
  const own = simplest(maker, schema)
  if (!isObject(own) || !isObject(value)) return value
  if (schema.kind !== 'intersection' || schema.members[index]?.kind !== 'union') return { ...own, ...value }
  const others = simplest(maker, { ...schema, members: schema.members.filter((_, at) => at !== index) })
  const kept = Object.entries(own).filter(([name]) => isObject(others) && Object.hasOwn(others, name))
  return { ...Object.fromEntries(kept), ...value }
}

function listWith(maker: Maker, schema: Schema, index: number, value: unknown): unknown {
  const own = simplest(maker, schema)
  const items: unknown[] = Array.isArray(own) ? [...(own as unknown[])] : []
  const filler = schema.kind === 'array' ? schema.prefix : []
  while (items.length < Math.min(index, filler.length)) items.push(simplest(maker, filler[items.length]!))
  if (value === ABSENT) items.splice(index, 1)
  else items[index] = value
  return items
}

function objectWith(
  maker: Maker,
  schema: Schema,
  step: Exclude<Step, { kind: 'target' | 'member' | 'part' | 'item' }>,
  { value, path }: EmbeddedValue,
): EmbeddedValue | undefined {
  const base = membersOf(simplest(maker, schema))
  if (step.kind === 'entry-name') {
    if (typeof value !== 'string') return undefined
    const rest =
      schema.kind === 'object' && typeof schema.additional === 'object' ? schema.additional : undefined
    const entry = rest ? simplest(maker, rest) : 1
    return { value: { ...base, [value]: entry }, path: [] }
  }
  const name = step.kind === 'property' ? step.name : entryName(maker, schema, step)
  if (value !== ABSENT) return { value: { ...base, [name]: value }, path: [name, ...path] }
  const { [name]: _, ...without } = base
  return { value: without, path: [name, ...path] }
}

function entryName(maker: Maker, schema: Schema, step: Step): string {
  if (step.kind === 'entry-of-pattern') return textLike(schema, step.pattern) ?? 'k'
  if (step.kind === 'entry' && step.name !== undefined) return step.name
  const names = schema.kind === 'object' ? schema.propertyNames : undefined
  const made = names && simplest(maker, names)
  return typeof made === 'string' ? made : 'k'
}
