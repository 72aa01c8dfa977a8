/**
 * Compares keywords that the IR does not represent: adding one rejects values, removing one allows more, changing
 * one does both.
 */

import { lookUp } from '../ir/document.ts'
import { PROSE } from '../ir/keywords.ts'
import type { Api, Schema } from '../ir/model.ts'
import { compareBound } from './bounds.ts'
import {
  BOTH,
  type ComparisonPosition,
  found,
  NARROWING,
  places,
  REQUEST,
  RESPONSE,
  WIDENING,
} from './position.ts'

type Keywords = Readonly<Record<string, unknown>>

const BOUNDS: Readonly<Record<string, 'lower' | 'upper'>> = {
  minLength: 'lower',
  minItems: 'lower',
  minProperties: 'lower',
  minimum: 'lower',
  exclusiveMinimum: 'lower',
  minContains: 'lower',
  maxLength: 'upper',
  maxItems: 'upper',
  maxProperties: 'upper',
  maximum: 'upper',
  exclusiveMaximum: 'upper',
  maxContains: 'upper',
}
/** Keywords about a string's content. A different value is neither narrower nor wider. */
const CONTENT = new Set(['contentEncoding', 'contentMediaType', 'contentSchema'])
const ACCESS: Readonly<Record<string, number>> = { readOnly: REQUEST, writeOnly: RESPONSE }

/** Compares the keywords that the two nodes do not represent. */
export function compareKeywords(position: ComparisonPosition, a: Schema, b: Schema): void {
  compareSets(position, a, b, a.unheld?.keywords ?? {}, b.unheld?.keywords ?? {})
}

/** Returns both schemas without the rules that a union has beside it and the other schema has as its own. */
export function withoutShared(a: Schema, b: Schema): readonly [Schema, Schema] {
  if (a.kind === b.kind) return [a, b]
  if (b.kind === 'union') return withoutShared(b, a).toReversed() as [Schema, Schema]
  if (a.kind !== 'union' || (b.kind !== 'string' && b.kind !== 'number')) return [a, b]
  const own = new Map<string, unknown>(Object.entries(b))
  const isShared = ([name, value]: [string, unknown]) => typeof value === 'number' && own.get(name) === value
  const keywords = Object.entries(a.unheld?.keywords ?? {})
  const shared = keywords.filter(isShared).map(([name]) => [name, undefined] as const)
  if (shared.length === 0) return [a, b]
  const unheld = { ...a.unheld, keywords: Object.fromEntries(keywords.filter((each) => !isShared(each))) }
  return [
    { ...a, unheld },
    { ...b, ...Object.fromEntries(shared) },
  ]
}

/** Returns whether neither schema has a type, and each has keywords for a different type. */
export function areUntyped(a: Schema, b: Schema): boolean {
  const free = (schema: Schema) => schema.unheld?.untyped !== undefined || schema.kind === 'any'
  return a.kind !== b.kind && free(a) && free(b)
}

export function compareUntyped(position: ComparisonPosition, a: Schema, b: Schema): void {
  compareSets(position, a, b, a.unheld?.untyped ?? {}, b.unheld?.untyped ?? {})
}

/** Without `type`, the keywords of one type do not restrict values of other types. */
export function compareTyping(position: ComparisonPosition, a: Schema, b: Schema): void {
  if (a.kind !== b.kind) return
  const [was, is] = [a, b].map((schema) => schema.unheld?.untyped === undefined)
  const type = a.kind === 'number' && 'integer' in b && b.integer ? 'integer' : a.kind
  if (!was && is) found(position, 'type-narrowed', NARROWING, `must now be of type ${type}`, places(a, b))
  if (was && !is)
    found(position, 'type-widened', WIDENING, `no longer has to be of type ${type}`, places(a, b))
}

function compareSets(position: ComparisonPosition, a: Schema, b: Schema, was: Keywords, is: Keywords): void {
  for (const name of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const keyword = { keyword: name, depth: 0 }
    const old = textOf(was[name], { api: position.old, ...keyword })
    const next = textOf(is[name], { api: position.next, ...keyword })
    if (old !== next) compareKeyword(position, a, b, { name, was: was[name], is: is[name] })
  }
}

interface Keyword {
  readonly name: string
  readonly was: unknown
  readonly is: unknown
}

function compareKeyword(
  position: ComparisonPosition,
  a: Schema,
  b: Schema,
  { name, was, is }: Keyword,
): void {
  const side = BOUNDS[name]
  const isBound = (value: unknown) => value === undefined || typeof value === 'number'
  if (side && isBound(was) && isBound(is))
    return compareBound(position, a, b, { name, side, old: was as number, new: is as number })
  if (ACCESS[name] !== undefined) {
    const breaks = is === undefined ? 0 : ACCESS[name]
    return found(
      position,
      'access-changed',
      breaks,
      `is ${is === undefined ? 'no longer' : 'now'} ${name}`,
      places(a, b),
    )
  }
  const lost = name === 'dependentRequired' ? missing(was, is) : undefined
  if (lost) {
    if (lost.removed) found(position, 'keyword-removed', WIDENING, `${name} requires less`, places(a, b))
    if (lost.added) found(position, 'keyword-added', NARROWING, `${name} requires more`, places(a, b))
  } else if (CONTENT.has(name) || (was !== undefined && is !== undefined))
    found(position, 'keyword-changed', BOTH, `${name} has a different value`, places(a, b))
  else if (is === undefined) found(position, 'keyword-removed', WIDENING, `${name} was removed`, places(a, b))
  else found(position, 'keyword-added', NARROWING, `${name} was added`, places(a, b))
}

/** Returns whether `dependentRequired` lost or gained requirements. */
function missing(was: unknown, is: unknown): { removed: boolean; added: boolean } {
  const [old, next] = [listsOf(was), listsOf(is)]
  return {
    removed: old.some((each) => !next.includes(each)),
    added: next.some((each) => !old.includes(each)),
  }
}

function listsOf(value: unknown): string[] {
  return Object.entries(value ?? {}).flatMap(([name, each]) =>
    [each].flat().map((one) => `${name} ${String(one)}`),
  )
}

const DEEPEST = 8
/** Keywords whose member names come from the document, not from JSON Schema. */
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', 'dependentRequired', '$defs'])
const ORDERED = new Set(['prefixItems', 'enum', 'const'])

interface KeywordReading {
  readonly api: Api
  /** The keyword whose value is being read. */
  readonly keyword: string
  /** Number of references followed. */
  readonly depth: number
}

/** Returns the canonical text of a keyword's value: references are resolved; annotations and order are dropped. */
function textOf(value: unknown, reading: KeywordReading): string {
  if (Array.isArray(value)) {
    const texts = value.map((each) => textOf(each, reading))
    return `[${(ORDERED.has(reading.keyword) ? texts : texts.sort()).join()}]`
  }
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? ''
  if (reading.keyword === 'const') return JSON.stringify(value)
  const { $ref: ref, ...rest } = value as Keywords
  const { api, depth } = reading
  const isReference = typeof ref === 'string' && depth < DEEPEST
  const target = isReference ? textOf(lookUp(api, ref), { ...reading, keyword: '', depth: depth + 1 }) : ref
  const isMap = MAPS.has(reading.keyword)
  const facts = Object.entries(rest)
    .filter(([name]) => isMap || !(PROSE.has(name) || name.startsWith('x-')))
    .map(([name, each]) => `${name}:${textOf(each, { ...reading, keyword: isMap ? '' : name })}`)
  return `{${[target ?? '', ...facts.sort()].join()}}`
}
