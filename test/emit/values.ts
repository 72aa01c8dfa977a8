/** Values near a schema: mostly fitting, now and then wrong somewhere, the same for the same seed. */
import type { Api, Schema, StringSchema } from '../../generators/ir/model.ts'

export type Random = () => number

/** Mulberry32. @returns numbers in [0, 1). */
export function createRandom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const ODD: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 31,
  'x',
  '',
  '😀😀',
  [],
  {},
  [[]],
  { constructor: 1 },
  1e21,
]
const SAMPLES: Readonly<Record<string, string>> = {
  date: '2030-02-28',
  'date-time': '2030-02-28T12:00:00Z',
  email: 'a@example.com',
  uri: 'https://example.com/a',
  uuid: '0190d5c2-7d3f-7c3a-8b5e-0123456789ab',
}

/** @param wrong how often (0 to 1) a node is something else. */
export function valueNear(schema: Schema, api: Api, random: Random, wrong: number, depth = 0): unknown {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!
  const inner = (each: Schema) => valueNear(each, api, random, wrong, depth + 1)
  if (random() < wrong) return pick(ODD)
  if (schema.nullable && random() < 0.2) return null
  switch (schema.kind) {
    case 'any':
      return pick(ODD)
    case 'never':
    case 'null':
      return null
    case 'boolean':
      return random() < 0.5
    case 'number':
      return numberNear(schema, random)
    case 'string':
      return stringNear(schema, random)
    case 'enum':
      return schema.values.length > 0 ? pick(schema.values) : null
    case 'ref':
      return inner(api.schemas.get(schema.name)!)
    case 'array': {
      const size = Math.max(schema.minItems ?? 0, depth > 6 ? 0 : Math.floor(random() * 3))
      return [...schema.prefix, ...Array.from({ length: size }, () => schema.items)].map(inner)
    }
    case 'union':
      return inner(pick(schema.members))
    case 'intersection':
      return Object.assign({}, ...schema.members.map(inner).filter((each) => typeof each === 'object'))
    case 'object':
      return objectNear(schema, random, inner, depth, wrong)
  }
}

function objectNear(
  schema: Extract<Schema, { kind: 'object' }>,
  random: Random,
  inner: (each: Schema) => unknown,
  depth: number,
  wrong: number,
): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const { name, required, schema: property } of schema.properties) {
    if (required ? random() > wrong : random() < (depth > 5 ? 0.05 : 0.5)) object[name] = inner(property)
  }
  if (typeof schema.additional === 'object')
    object[`key${Math.floor(random() * 9)}`] = inner(schema.additional)
  if (random() < wrong) object.unknown_member = 1
  return object
}

/** Without what binary multiplication adds to a decimal. */
const written = (value: number): number => Number(value.toPrecision(12))

function numberNear(schema: Extract<Schema, { kind: 'number' }>, random: Random): number {
  const low = schema.minimum ?? schema.exclusiveMinimum ?? -5
  const high = schema.maximum ?? schema.exclusiveMaximum ?? low + 20
  const value = low + random() * Math.min(high - low, 100)
  const step = schema.multipleOf ?? 1
  return schema.integer || schema.multipleOf !== undefined ? written(Math.round(value / step) * step) : value
}

function stringNear(schema: StringSchema, random: Random): string {
  const sample = schema.format === undefined ? undefined : SAMPLES[schema.format]
  if (sample !== undefined) return sample
  const { pattern, minLength = 0, maxLength = 12 } = schema
  if (pattern !== undefined) return patternNear(pattern, random)
  const size = minLength + Math.floor(random() * Math.min(maxLength - minLength, 4))
  return 'aé😀b1'.repeat(Math.ceil(size / 4)).slice(0, Math.max(size, minLength))
}

/** Fits patterns made of literals, classes and counts, as identifiers and codes have; others it misses. */
function patternNear(pattern: string, random: Random): string {
  let text = ''
  for (const [, group, literal, least, most, sign] of pattern
    .replace(/^\^|\$$/g, '')
    .matchAll(/(?:(\[[^\]]+\]|\\d|\.)|([\w:/#-]|\\.))(?:\{(\d+)(?:,(\d*))?\}|([*+?]))?/g)) {
    const count = least !== undefined ? Number(least) : sign === '?' || sign === '*' ? 0 : 1
    const extra = most ? Math.floor(random() * (Number(most) - count + 1)) : 0
    const member = group === undefined ? (literal ?? '').replace('\\', '') : classMember(group)
    text += member.repeat(count + extra)
  }
  return text
}

function classMember(group: string): string {
  const found = ['0', 'a', 'A', '1', '2', 'b', '-', '_'].find((each) =>
    new RegExp(`^${group}$`, 'u').test(each),
  )
  return found ?? 'x'
}
