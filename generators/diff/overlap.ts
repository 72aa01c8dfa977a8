/** Decides whether a value can satisfy two schemas, which `oneOf` then rejects. */
import type { Api, EnumSchema, Schema } from '../ir/model.ts'
import { obeys } from '../ir/unheld.ts'
import { admittedBy } from './enums.ts'
import { type Merged, merge } from './merge.ts'
import { targetOf } from './position.ts'
import { unwrap } from './unwrap.ts'

/** Formats that exclude each other. */
const APART: ReadonlySet<string> = new Set(['date', 'date-time', 'time', 'uuid', 'ipv4', 'ipv6', 'email'])

const DEEPEST = 8

/**
 * Returns false only if no value satisfies both schemas.
 *
 * @param closed whether objects have only the properties that they declare, as in responses.
 */
export function mayOverlap(api: Api, a: Schema, b: Schema, closed: boolean, depth = 0): boolean {
  const [one, other] = [unwrap(targetOf(api, unwrap(a))), unwrap(targetOf(api, unwrap(b)))]
  const isAny = [one, other].some(
    ({ kind, untyped, unheld }) => kind === 'any' || untyped || unheld?.untyped !== undefined,
  )
  if (depth > DEEPEST || isAny || (acceptsNull(one) && acceptsNull(other))) return true
  const deeper = (x: Schema, y: Schema) => mayOverlap(api, x, y, closed, depth + 1)
  if (one.kind === 'union') return one.members.some((member) => deeper(member, other))
  if (other.kind === 'union') return other.members.some((member) => deeper(one, member))
  if (one.kind === 'intersection' || other.kind === 'intersection') {
    const [left, right] = [merge(api, [one]), merge(api, [other])]
    const isApart = left.rest.some((each) =>
      [...right.rest, ...right.objects].some((it) => !deeper(each, it)),
    )
    if (isApart || right.rest.some((each) => left.objects.some((it) => !deeper(each, it)))) return false
    return !left.isObject || !right.isObject || objectsOverlap(left, right, closed, deeper)
  }
  if (one.kind === 'enum') return admittedBy(one).some((value) => accepts(other, value))
  if (other.kind === 'enum') return admittedBy(other).some((value) => accepts(one, value))
  if (one.kind !== other.kind) return false
  if (one.kind === 'object' && other.kind === 'object')
    return objectsOverlap(merge(api, [one]), merge(api, [other]), closed, deeper)
  if (one.kind === 'string' && other.kind === 'string')
    return (
      rangesMeet(one.minLength, one.maxLength, other.minLength, other.maxLength) &&
      (one.format === other.format || !APART.has(one.format ?? '') || !APART.has(other.format ?? ''))
    )
  if (one.kind === 'number' && other.kind === 'number')
    return rangesMeet(one.minimum, one.maximum, other.minimum, other.maximum)
  if (one.kind === 'array' && other.kind === 'array') {
    if (!rangesMeet(one.minItems, one.maxItems, other.minItems, other.maxItems)) return false
    const isFilled = Math.max(one.minItems ?? 0, other.minItems ?? 0) > 0
    return !isFilled || one.prefix.length + other.prefix.length > 0 || deeper(one.items, other.items)
  }
  return one.kind !== 'never'
}

const acceptsNull = ({ kind, nullable }: Schema): boolean => kind === 'null' || nullable

const rangesMeet = (
  least = Number.NEGATIVE_INFINITY,
  most = Number.POSITIVE_INFINITY,
  otherLeast = Number.NEGATIVE_INFINITY,
  otherMost = Number.POSITIVE_INFINITY,
): boolean => least <= otherMost && otherLeast <= most

function accepts(schema: Schema, value: EnumSchema['values'][number]): boolean {
  if (schema.kind === 'enum') return admittedBy(schema).includes(value)
  if (value === null) return acceptsNull(schema)
  if (schema.kind === 'number' && schema.integer && !Number.isInteger(value)) return false
  return schema.kind === typeof value && obeys(value, schema)
}

/** Objects are apart if a property that one requires cannot satisfy both, or if the other does not allow it. */
function objectsOverlap(
  one: Merged,
  other: Merged,
  closed: boolean,
  overlap: (a: Schema, b: Schema) => boolean,
): boolean {
  return [[one, other] as const, [other, one] as const].every(([here, there]) =>
    [...here.properties].every(([name, { property, declared }]) => {
      if (!property.required) return true
      const counterpart = there.properties.get(name)
      if (counterpart)
        return declared.every((each) =>
          counterpart.declared.every((it) => overlap(each.property.schema, it.property.schema)),
        )
      const isFree =
        there.objects.some(({ patterns }) => patterns.length > 0) || typeof there.additional === 'object'
      return isFree || (there.additional === 'open' && !closed)
    }),
  )
}
