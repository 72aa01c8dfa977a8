/**
 * Proves a breaking difference by a witness: a request, an answer or an event that one version accepts and the other
 * refuses or reads otherwise. Both versions' validators check it.
 */

import { pairOperations } from '../change/align.ts'
import type { Difference, DifferenceCode, MessageDirection } from '../diff/difference.ts'
import { targetOf } from '../diff/position.ts'
import type { Api, Schema } from '../ir/model.ts'
import { fieldOf, own as memberOf } from '../runtime/explain/walk.ts'
import { ABSENT, embed } from './embed.ts'
import {
  commonStatus,
  counterpartOf,
  type Form,
  fill,
  formsOf,
  isSameMessage,
  put,
  type Slot,
  schemaIn,
  slotsOf,
} from './message.ts'
import type { JudgedPair, Witness } from './proof.ts'
import { declares, readValue, type ValueReading } from './read.ts'
import { findRoute, type Hidden, type SchemaRoute, type Stop, type ValuePath } from './route.ts'
import { createMaker, type Maker } from './simplest.ts'
import { isStated, stateDifference } from './stated.ts'
import { randomValues, unique, valuesOf } from './tries.ts'

/**
 * `proven`: there is a witness. `disproven`: no message can show the difference, because every value was tried.
 * `unproven`: none was found, but there may be one.
 */
export type Verdict =
  | { readonly kind: 'proven'; readonly witness: Witness }
  | { readonly kind: 'disproven' | 'unproven'; readonly reason: string }

/** Finds the verdict on a breaking difference of two versions. Verdicts are computed once. */
export type Judge = (difference: Difference) => Verdict

/** @param served ids that lenses give to old operations. */
export function createJudge(old: Api, next: Api, served?: ReadonlySet<string>): Judge {
  const before = pairOperations(old, next, served)
  const formerId = new Map([...before].map(([later, former]) => [later.id, former.id]))
  const known = new Map<Difference, Verdict>()
  const makers = new Map([old, next].map((api) => [api, new Map<Hidden, Maker>()]))
  const makerOf = (api: Api, hidden: Hidden): Maker => {
    const maker = makers.get(api)!.get(hidden) ?? createMaker(api, hidden)
    makers.get(api)!.set(hidden, maker)
    return maker
  }
  const sides: JudgedPair = { old, next, formerId, makerOf }
  return (difference) => {
    const verdict = known.get(difference) ?? judge(sides, difference)
    known.set(difference, verdict)
    return verdict
  }
}

function judge(pair: JudgedPair, difference: Difference): Verdict {
  if (isStated(difference)) {
    const stated = stateDifference(pair, difference)
    return stated ? { kind: 'proven', witness: stated } : unproven(difference)
  }
  const ways = difference.breaks.flatMap((direction) => waysOf(pair, difference, direction))
  const kinds = new Set(ways.map(kindOf))
  const exhausted = new Set<string>()
  for (const way of ways) {
    const search = searchWay(pair, way, difference)
    if (search.witness) return { kind: 'proven', witness: search.witness }
    if (search.isExhausted) exhausted.add(kindOf(way))
  }
  return kinds.size > 0 && kinds.size === exhausted.size
    ? { kind: 'disproven', reason: 'both versions accept the same values' }
    : unproven(difference)
}

/** Ways of one kind show the same, because a schema that stands alone accepts the same values everywhere. */
const kindOf = ({ hidden, isFormer }: Way): string => `${hidden} ${isFormer}`

const unproven = ({ breaks }: Difference): Verdict => ({
  kind: 'unproven',
  reason: `no ${breaks.includes('request') ? 'request' : 'answer'} that shows it was found`,
})

/** One way in which a message can show a difference: who writes it, who reads it, and in which slot. */
interface Way {
  readonly writer: Side
  readonly reader: Side
  readonly hidden: Hidden
  /** Whether the old version wrote it: then the new version never sends the value. */
  readonly isFormer: boolean
}

interface Side {
  readonly api: Api
  readonly form: Form
  readonly slot: Slot
  /** Leads from the slot's schema to the difference; absent if the difference is not in the slot. */
  readonly route: SchemaRoute | undefined
}

/** Number of messages to try for a difference in a component that many operations use. */
const MAX_WAYS = 6

function waysOf(pair: JudgedPair, difference: Difference, direction: MessageDirection): Way[] {
  const ways = difference.uses.flatMap((use) => waysIn(pair, difference, use, direction)).slice(0, MAX_WAYS)
  if (direction === 'request') return ways
  const turned = ways.map(({ writer, reader, hidden }) => ({
    writer: reader,
    reader: writer,
    hidden,
    isFormer: false,
  }))
  return [...turned, ...ways.map((way) => ({ ...way, isFormer: true }))]
}

/** Returns the ways from the old version to the new one. */
function waysIn(
  { old, next, formerId }: JudgedPair,
  difference: Difference,
  use: string,
  direction: MessageDirection,
): Way[] {
  const hidden = direction === 'request' ? 'readOnly' : 'writeOnly'
  const later = formsOf(next, use, direction)
  const former = formsOf(old, formerId.get(use) ?? use, direction)
  const pairs = former.flatMap((form) =>
    later.filter((each) => isSameMessage(form, each)).map((other) => [form, other] as const),
  )
  const ways = pairs.flatMap(([form, other]) =>
    slotsOf(form).flatMap((slot): Way[] => {
      const counterpart = counterpartOf(slot, other)
      if (!counterpart) return []
      const toOld = routeInSlot(old, slot, difference.old?.pointer, hidden)
      const toNew = routeInSlot(next, counterpart, difference.new?.pointer, hidden)
      const writer = { api: old, form, slot, route: toOld }
      const reader = { api: next, form: other, slot: counterpart, route: toNew }
      return [{ writer, reader, hidden, isFormer: false }]
    }),
  )
  const leads = ({ writer, reader }: Way) => [writer, reader].filter(({ route }) => route).length
  const all = ways.filter((way) => leads(way) === 2)
  return all.length > 0 ? all : ways.filter((way) => leads(way) === 1)
}

function routeInSlot(
  api: Api,
  slot: Slot,
  pointer: string | undefined,
  hidden: Hidden,
): SchemaRoute | undefined {
  if (pointer === undefined) return undefined
  const holder = slot.kind === 'body' ? slot.content : slot.parameter
  // The difference is in how the whole value is written.
  if (holder.place.pointer === pointer) return [{ schema: holder.schema }]
  return findRoute(api, schemaIn(slot), pointer, hidden)
}

interface Search {
  readonly witness?: Witness
  /** Whether all values of the schema were tried. */
  readonly isExhausted: boolean
}

/** Number of random values to try if no value at a bound shows the difference. */
const RANDOM = 60

/** Prefers a message that is refused to one that is read otherwise. */
function searchWay({ makerOf }: JudgedPair, way: Way, difference: Difference): Search {
  const { writer, reader, hidden } = way
  const maker = makerOf(writer.api, hidden)
  const message = fill(maker, writer.form)
  const target = reader.route
  const route = named(writer.route, target)
  if (!message || !route) return { isExhausted: false }
  const own = route.at(-1)!.schema
  const near = [...valuesOf(maker, own), ...(target ? valuesAt(makerOf(reader.api, hidden), target) : [])]
  const values = bySize(unique(near))
  const leaves = route.at(-1)!.step?.kind === 'property' ? [ABSENT, ...values] : values
  const status = commonStatus(writer.form, reader.form)
  let accepted = 0
  let otherwise: Witness | undefined
  for (const leaf of chain(leaves, () => (otherwise ? [] : randomValues(maker, own, RANDOM)))) {
    const made = embed(maker, route, leaf)
    if (!made) continue
    const written = readValue(writer.api, writer.slot, made.value, writer, 1)
    if (written.faults.length > 0) continue
    accepted += 1
    const read = readValue(reader.api, reader.slot, made.value, writer)
    const focus = focusOf(made.path, difference, own)
    const witness = (reason: string): Witness => ({
      message: { ...put(message, writer.slot, written.value), ...(status !== undefined && { status }) },
      by: writer.api,
      against: reader.api,
      focus,
      reason,
    })
    const refusal = refusalOf(read, focus)
    if (refusal !== undefined)
      return {
        witness: witness(`${way.isFormer ? 'never sends' : 'refuses'} it: ${refusal}`),
        isExhausted: false,
      }
    if (JSON.stringify(read.value) !== JSON.stringify(written.value))
      otherwise ??= witness(`reads it as ${JSON.stringify(read.value)}`)
    const lost = hasAt(made.value, focus) ? lossOf(way, focus, difference, target) : undefined
    if (lost !== undefined) otherwise ??= witness(`${lost} ${fieldOf(focus)}`)
    if (MEANINGS.has(difference.code)) otherwise ??= witness(`differs: ${difference.message}`)
  }
  if (otherwise) return { witness: otherwise, isExhausted: false }
  const isAlone = target !== undefined && [route, target].every((each) => each.every(standsAlone))
  const isTried = accepted > 0 && isAlone && hasFewValues(writer.api, own)
  return { isExhausted: isTried || isUnsaid(way, difference, route) }
}

/** Returns values of the reader's schema, and the objects that hold them, because only one version may name the entry. */
function valuesAt(maker: Maker, target: SchemaRoute): unknown[] {
  const values = valuesOf(maker, target.at(-1)!.schema)
  const held = values.map((value) => embed(maker, target.slice(-2), value)?.value)
  return [...values, ...held.filter((value) => value !== undefined)]
}

function* chain<Value>(first: readonly Value[], more: () => readonly Value[]): Generator<Value> {
  yield* first
  yield* more()
}

/** Orders values by their length as JSON. An empty text comes after a short one, which is easier to recognize. */
function bySize(values: readonly unknown[]): unknown[] {
  const sized = values.map(
    (value) => [JSON.stringify(value).replaceAll('""', '"aaaa"').length, value] as const,
  )
  return sized.toSorted(([a], [b]) => a - b).map(([, value]) => value)
}

/**
 * Returns the path of the property that a difference is about; its pointer may lead only to the object.
 *
 * @param end the schema that the pointer leads to.
 */
function focusOf(path: ValuePath, { code, at }: Difference, end: Schema): ValuePath {
  if (!code.startsWith('property-') || !('path' in at)) return path
  const [, plain, quoted] = /\.?([^.[\]{}|]+)$|\[("(?:[^"\\]|\\.)*")\]$/.exec(at.path) ?? []
  const name = quoted === undefined ? plain : (JSON.parse(quoted) as string)
  const isHolder =
    end.kind === 'object' &&
    end.properties.some((each) => each.name === name && each.place.pointer === end.place.pointer)
  return name === undefined || (path.at(-1) === name && !isHolder) ? path : [...path, name]
}

const hasAt = (value: unknown, path: ValuePath): boolean =>
  path.reduce<unknown>((at, each) => memberOf(at, String(each)), value) !== undefined

/**
 * Returns what a version does not do with a property. Readers ignore what they do not know, so only the sender of a
 * request or a former answer loses it.
 */
function lossOf(
  { reader, hidden, isFormer }: Way,
  path: ValuePath,
  { code }: Difference,
  target: SchemaRoute | undefined,
): string | undefined {
  if (hidden !== 'readOnly' && !isFormer) return undefined
  if (!declares(reader.api, reader.slot, path, hidden)) return isFormer ? 'does not send' : 'does not know'
  const holder = target?.at(-1)?.schema
  const isEntry = holder?.kind === 'object' && typeof holder.additional === 'object'
  return code === 'property-removed' && isEntry ? 'has no meaning of its own for' : undefined
}

/** Returns whether the difference is only that a parameter may be null, which no request can say. */
const isUnsaid = ({ writer }: Way, { code }: Difference, route: SchemaRoute): boolean =>
  code.startsWith('null-') &&
  writer.slot.kind === 'parameter' &&
  route.every(({ step }) => step === undefined || step.kind === 'target') &&
  readValue(writer.api, writer.slot, null, writer, 1).faults.length > 0

/** Differences in what a value means. Validators need not tell them apart. */
const MEANINGS: ReadonlySet<DifferenceCode> = new Set([
  'union-member-retagged',
  'discriminator-changed',
  'serialization-changed',
  'keyword-changed',
  'format-added',
  'format-removed',
  'format-changed',
])

/** If a map's entry became a property, only the entry with its name shows the difference. */
function named(route: SchemaRoute | undefined, target: SchemaRoute | undefined): SchemaRoute | undefined {
  const [last, theirs] = [route?.at(-1)?.step, target?.at(-1)?.step]
  if (!route || last?.kind !== 'entry' || theirs?.kind !== 'property') return route
  return [...route.slice(0, -1), { ...route.at(-1)!, step: { kind: 'entry', name: theirs.name } }]
}

/** Returns whether a schema accepts the values inside it for their own sake, with anything beside them. */
const standsAlone = ({ schema: { kind, partial, unheld } }: Stop): boolean =>
  kind !== 'union' && kind !== 'intersection' && !partial && Object.keys(unheld?.keywords ?? {}).length === 0

/** Returns whether the values of a schema are few enough for all to be among those tried. */
function hasFewValues(api: Api, schema: Schema): boolean {
  const { kind, untyped, partial } = targetOf(api, schema)
  return ['boolean', 'enum', 'null'].includes(kind) && !untyped && !partial
}

/** Returns why a version refuses the part of a value at the path, or undefined if it accepts it. */
function refusalOf({ faults }: ValueReading, path: ValuePath): string | undefined {
  const related = faults.filter((fault) => startsWith(fault.path, path) || startsWith(path, fault.path))
  const [first] = related.toSorted((a, b) => b.path.length - a.path.length)
  if (!first) return undefined
  const field = fieldOf(first.path)
  return field === '' ? first.issue : `${field} ${first.issue}`
}

const startsWith = (path: ValuePath, start: ValuePath): boolean =>
  start.every((each, index) => path[index] === each)
