import type { Random } from './random.ts'

/** What stands where something else should. */
const STRANGERS: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  -0,
  2 ** 53 + 2,
  1e21,
  100_000_000_000_001,
  '',
  ' ',
  'x',
  '0',
  '1',
  'true',
  'null',
  '__proto__',
  'x'.repeat(41),
  'x'.repeat(501),
  'x'.repeat(20_001),
  '2026-02-30',
  '2026-02-30T00:00:00Z',
  '2026-01-01T24:00:00Z',
  '2026-06-30T23:59:60Z',
  '2026-01-01 00:00:00Z',
  'ada@',
  'ada@example',
  'http://',
  'javascript:alert(1)',
  '/relative',
  'urn:uuid:0197905f-2f6c-7d3e-8a41-5b6c7d8e9fa0',
  'pass_01JX2F8M3Q5R7S9T1V3W5X7Y9Z',
  'line\nbreak',
  '#12345G',
  '0000',
  'customer_dispute',
  [],
  [null],
  {},
  { a: 1 },
]

const NAMES = ['extra', 'constructor', 'toString', 'id', 'tenant_id', 'Name', 'name ', 'a'.repeat(45), '1']

/** A place in a value that can be changed. */
interface Place {
  readonly holder: Record<string, unknown> | unknown[]
  readonly key: string | number
}

function findPlaces(value: unknown): Place[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, key) => [{ holder: value, key }, ...findPlaces(item)])
  }
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.entries(holder).flatMap(([key, item]) => [{ holder, key }, ...findPlaces(item)])
}

function findObjects(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(findObjects)
  return Array.isArray(value) ? inner : [value as Record<string, unknown>, ...inner]
}

/** A copy of the value with one thing changed, most often for the worse. */
export function spoil(value: unknown, random: Random): unknown {
  if (random.chance(0.03)) return random.pick(STRANGERS)
  const copy = structuredClone(value)
  const places = findPlaces(copy)
  const objects = findObjects(copy)
  if (objects.length > 0 && (places.length === 0 || random.chance(0.2))) {
    random.pick(objects)[random.pick(NAMES)] = random.pick(STRANGERS)
    return copy
  }
  if (places.length === 0) return random.pick(STRANGERS)
  change(random.pick(places), random)
  return copy
}

function change({ holder, key }: Place, random: Random): void {
  const held = Reflect.get(holder, key) as unknown
  const kind = random.below(6)
  if (kind === 0 && Array.isArray(holder)) holder.push(...holder, ...holder)
  else if (kind === 0) Reflect.deleteProperty(holder, key)
  else if (kind === 1 && Array.isArray(held))
    Reflect.set(
      holder,
      key,
      Array.from({ length: 101 }, () => held[0]),
    )
  else if (kind === 1 && typeof held === 'string') Reflect.set(holder, key, `${held}x`)
  else if (kind === 1 && typeof held === 'number') Reflect.set(holder, key, held + random.pick([1, -1, 0.5]))
  else if (kind === 2 && typeof held === 'string') Reflect.set(holder, key, held.slice(1))
  else if (kind === 3 && typeof held === 'string') Reflect.set(holder, key, held.toUpperCase())
  else Reflect.set(holder, key, random.pick(STRANGERS))
}

/** Texts of parameters that are most often not what is wanted. */
export const PARAMETER_TEXTS: readonly string[] = [
  '',
  '0',
  '1',
  '100',
  '101',
  '-1',
  '1e2',
  '0x10',
  ' 5 ',
  '+5',
  '05',
  '5.0',
  '9007199254740993',
  'true',
  'TRUE',
  'false',
  'null',
  'asc',
  'ASC',
  'a,b',
  'x',
  '2026-01-01',
  '2026-02-30',
  '2026-01-01T00:00:00Z',
  '2026-01-01T00:00Z',
  '2026-01-01T00:00:00+02:00',
  '{"a":1}',
  '[1]',
  'é',
  'x'.repeat(300),
]
