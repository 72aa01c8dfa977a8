/**
 * The laws of a lens. Its functions do not modify their arguments, always return the same result, return values
 * that the other document allows, and are reversible except for declared losses.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Lens, Turn } from '../change/change.ts'
import type { LoadedChange } from '../change/load-changes.ts'
import { formatLocation } from '../diff/difference.ts'
import type { Api, Property, Schema } from '../ir/model.ts'
import { directionOf, schemaAt } from '../translate/inline-place.ts'
import type { Direction } from '../translate/model.ts'
import { shapeOf } from '../translate/shape.ts'
import type { Mismatch } from '../values/closed-reading.ts'
import { misfit, sent, type ValidityReader } from '../values/validity.ts'
import { elsewhere, freeze, type Law, type ProofFault } from './law.ts'

/** Two adjacent versions, the changes between them, and generators of values for each. */
export interface Sides {
  readonly old: Api
  readonly next: Api
  readonly changes: readonly LoadedChange[]
  /** The directions in which a component is translated; a direction that is not used is not tested. */
  readonly travels: (component: string) => readonly Direction[]
  readonly makers: Readonly<Record<Direction, (schema: Schema) => fc.Arbitrary<unknown>>>
  /** Validates results. */
  readonly reading: ValidityReader
}

/** One function of a lens, with its inputs and its condition on results. */
interface LensWay {
  readonly values: fc.Arbitrary<unknown>
  readonly turn: Turn
  /** Whether the function may receive a value. */
  takes(value: unknown): boolean
  /** Returns what is wrong with a result. */
  fits(result: unknown): string | undefined
}

/** Returns the laws for the functions of every lens between the two versions. */
export function lensLaws(sides: Sides): Law[] {
  return sides.changes.flatMap((change) =>
    change.lenses.flatMap((lens) => lawsOf(sides, lens).map((law) => ({ ...law, file: change.file }))),
  )
}

function lawsOf(sides: Sides, lens: Lens): Law[] {
  if (lens.kind === 'filter') return filterLaws(sides, lens)
  if (!('schemas' in lens)) return []
  return lens.schemas.flatMap((component) => {
    const name = (property: string) =>
      `${sides.next.version} ${lens.kind} ${formatLocation({ kind: 'schema', component, path: property })}`
    const way = directionOf(sides.next, component)
    const ways = way ? [way] : sides.travels(component)
    const property = (api: Api, of: string) => propertyOf(api, component, of)
    switch (lens.kind) {
      case 'convert': {
        const [a, b] = [property(sides.old, lens.property), property(sides.next, lens.property)]
        if (!a || !b) return []
        return bothWays(
          name(lens.property),
          lens,
          ways,
          valueWay(sides, 'up', a, b, lens.up),
          valueWay(sides, 'down', b, a, lens.down),
        )
      }
      case 'rename': {
        const [a, b] = [property(sides.old, lens.from), property(sides.next, lens.to)]
        if (!a || !b || !lens.up || !lens.down) return []
        return bothWays(
          name(lens.from),
          lens,
          ways,
          valueWay(sides, 'up', a, b, lens.up, true),
          valueWay(sides, 'down', b, a, lens.down, true),
        )
      }
      case 'replace': {
        const [a, b] = [groupOf(sides.old, component, lens.old), groupOf(sides.next, component, lens.new)]
        if (a.length === 0 || b.length === 0) return []
        return bothWays(
          name(lens.old.join('+')),
          lens,
          ways,
          groupWay(sides, 'up', a, b, lens.up),
          groupWay(sides, 'down', b, a, lens.down),
        )
      }
      case 'drop':
        return dropLaws(sides, component, lens, name(lens.property))
      default:
        return []
    }
  })
}

function propertyOf(api: Api, component: string, name: string): Property | undefined {
  const schema = schemaAt(api, component)
  return schema && shapeOf(schema, api, new Set([component]))?.properties.get(name)
}

const groupOf = (api: Api, component: string, names: readonly string[]): Property[] =>
  names.flatMap((name) => propertyOf(api, component, name) ?? [])

export function valueWay(
  { makers, old, next, reading }: Sides,
  direction: Direction,
  from: Property,
  to: Property,
  turn: Turn,
  withNull = false,
): LensWay {
  const bare = (schema: Schema): Schema => (withNull ? schema : { ...schema, nullable: false })
  const values = makers[direction](bare(from.schema))
  const [given, api] = direction === 'up' ? [old, next] : [next, old]
  return {
    takes: (value) => isValid(given, bare(from.schema), value, direction),
    values: withNull ? values : values.filter((value) => value !== null),
    turn,
    fits: (result) => describe(reading(api, to.schema, sent(result), direction)),
  }
}

function groupWay(
  { makers, old, next, reading }: Sides,
  direction: Direction,
  from: readonly Property[],
  to: readonly Property[],
  turn: Turn,
): LensWay {
  const [before, api] = direction === 'up' ? [old, next] : [next, old]
  const record = fc.record(
    Object.fromEntries(from.map((each) => [each.name, makers[direction](each.schema)])),
    {
      requiredKeys: from.filter((each) => each.required).map((each) => each.name),
      noNullPrototype: true,
    },
  )
  return {
    // The function is called for objects with at least one of the properties.
    values: record,
    takes: (value) =>
      Object.keys(value as object).length > 0 &&
      from.every(({ name, schema }) => {
        const each = (value as Readonly<Record<string, unknown>>)[name]
        return each === undefined || isValid(before, schema, each, direction)
      }),
    turn,
    fits(result) {
      const given = sent(result) as Readonly<Record<string, unknown>>
      const other = Object.keys(given ?? {}).find((name) => !to.some((each) => each.name === name))
      if (other !== undefined) return `${other} is not one of ${to.map((each) => each.name).join(', ')}`
      for (const each of to) {
        const value = given?.[each.name]
        if (value === undefined && each.required) return `${each.name} is missing`
        const found = value === undefined ? undefined : reading(api, each.schema, value, direction)
        if (found) return describe({ ...found, field: joined(each.name, found.field) })
      }
      return undefined
    },
  }
}

const joined = (name: string, field: string): string =>
  field === '' || field.startsWith('[') ? name + field : `${name}.${field}`

/** Returns whether a value is valid in its document. */
export const isValid = (api: Api, schema: Schema, value: unknown, direction: Direction): boolean =>
  value !== undefined && misfit(api, schema, sent(value), direction) === undefined

export const describe = (found: Mismatch | undefined): string | undefined =>
  found && `${found.place.file}:${found.place.line} ${found.field || 'the value'} ${found.issue}`

interface Lossy {
  readonly loss?: string
}

export function bothWays(
  name: string,
  lens: Lossy,
  ways: readonly Direction[],
  one: LensWay,
  other: LensWay,
): Law[] {
  const lossy = lens.loss !== undefined
  const [up, down] = [ways.includes('up') ? one : unsent(one), ways.includes('down') ? other : unsent(other)]
  const laws: readonly (Law & { readonly way: Direction })[] = [
    {
      way: 'up',
      name: `${name} up`,
      values: up.values,
      fits: up.takes,
      check: (value) => checkWay(value, up, down, 'up', lossy),
    },
    {
      way: 'down',
      name: `${name} down`,
      values: down.values,
      fits: down.takes,
      check: (value) => checkWay(value, down, up, 'down', lossy),
    },
  ]
  return laws.filter((each) => ways.includes(each.way))
}

const unsent = (way: LensWay): LensWay => ({ ...way, fits: () => undefined })

function checkWay(
  value: unknown,
  there: LensWay,
  back: LensWay,
  direction: Direction,
  lossy: boolean,
): ProofFault | undefined {
  const turned = call(there, value, direction)
  if ('code' in turned) return turned
  const other = direction === 'up' ? 'down' : 'up'
  const returned = call(back, turned.result, other)
  if ('code' in returned) return returned
  if (!lossy && !isSame(returned.result, value))
    return {
      code: 'proof-round-trip',
      message: `${told(value)} becomes ${told(turned.result)} on the way ${direction} and ${told(returned.result)} on the way back, but the lens declares no loss`,
    }
  const again = call(there, returned.result, direction)
  if ('code' in again) return again
  if (isSame(again.result, turned.result)) return undefined
  return {
    code: 'proof-round-trip',
    message: `${told(value)} becomes ${told(turned.result)} on the way ${direction}, but ${told(again.result)} after a round trip`,
  }
}

const MAX_TEXT = 120

/** Returns a value as JSON, shortened to one line. */
export function told(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

const isSame = (one: unknown, other: unknown): boolean => isDeepStrictEqual(sent(one), sent(other))

/** Calls a function twice, with a frozen argument. */
export function call(
  { turn, fits }: Pick<LensWay, 'turn' | 'fits'>,
  given: unknown,
  direction: Direction,
): { readonly result: unknown } | ProofFault {
  const value = freeze(structuredClone(given))
  let result: unknown
  let other: unknown
  try {
    result = turn(value as never)
    other = elsewhere(() => turn(value as never))
  } catch (error) {
    return { code: 'proof-throws', message: `${direction} throws ${String(error)}` }
  }
  if (!isSame(result, other))
    return {
      code: 'proof-unsteady',
      message: `${direction} returns ${told(result)}, but ${told(other)} for the same value on a second call`,
    }
  const wrong = fits(result)
  return wrong === undefined
    ? { result }
    : { code: 'proof-mismatch', message: `${direction} gives ${told(result)}: ${wrong}` }
}

function dropLaws(
  sides: Sides,
  component: string,
  lens: Extract<Lens, { kind: 'drop' }>,
  name: string,
): Law[] {
  const before = propertyOf(sides.old, component, lens.property)
  const after = schemaAt(sides.next, component)
  if (!lens.down || !before || !after) return []
  const way = {
    turn: lens.down,
    fits: (result: unknown) =>
      result === undefined && !before.required
        ? undefined
        : describe(sides.reading(sides.old, before.schema, sent(result), 'down')),
  }
  const check = (value: unknown): ProofFault | undefined => {
    const called = call(way, value, 'down')
    return 'code' in called ? called : undefined
  }
  return [
    {
      name: `${name} down`,
      values: sides.makers.down({ ...after, nullable: false }),
      fits: (value) => isValid(sides.next, after, value, 'down'),
      check,
    },
  ]
}

function filterLaws(sides: Sides, lens: Extract<Lens, { kind: 'filter' }>): Law[] {
  const parameterOf = (api: Api) =>
    api.operations
      .find(({ id }) => id === lens.operation)
      ?.parameters.find((each) => each.in === 'query' && each.name === lens.parameter)
  const [before, after] = [parameterOf(sides.old), parameterOf(sides.next)]
  if (!before || !after) return []
  const way = {
    turn: lens.up,
    fits(result: unknown) {
      if (!Array.isArray(result)) return 'it must be a list'
      if (result.length === 0) return 'it matches nothing'
      for (const each of result) {
        const found = sides.reading(sides.next, after.schema, each, 'up')
        if (found) return describe(found)
      }
      return undefined
    },
  }
  const check = (value: unknown): ProofFault | undefined => {
    const called = call(way, value, 'up')
    return 'code' in called ? called : undefined
  }
  return [
    {
      name: `${sides.next.version} filter ${lens.operation} ${lens.parameter}`,
      values: sides.makers.up(before.schema),
      fits: (value) => isValid(sides.old, before.schema, value, 'up'),
      check,
    },
  ]
}
