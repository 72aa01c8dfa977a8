import type { Body, CheckedItem, Detail } from '../contract.ts'
import { validationFailed } from './errors.ts'
import type { Addressed, Parsed, Service } from './exchange.ts'
import { explainAll } from './explanation.ts'
import { findForbidden, type Tally } from './inspect-json.ts'
import { malformedJson, parseJson, readBytes, requireJsonType } from './json-body.ts'
import { findMisspelt } from './number-spelling.ts'
import { type JsonScan, scanJson } from './scan-json.ts'
import type { VersionTable } from './versions.ts'

/** The body, as the caller's version describes it. */
export function readBody(exchange: Addressed, { bodyMs }: Service): Parsed | Promise<Parsed> {
  return exchange.route.write ? readWritten(exchange, bodyMs) : (exchange as Parsed)
}

async function readWritten(exchange: Addressed, bodyMs: number): Promise<Parsed> {
  const { request, version, route } = exchange
  const { body } = route.operation
  const bytes = await readBytes(request, bodyMs)
  if (bytes.length === 0) {
    if (body?.required) throw malformedJson('This operation needs a JSON body.')
    return exchange as Parsed
  }
  requireJsonType(request.headers['content-type'])
  const value = parseJson(bytes)
  const scan = scanJson(bytes)
  const forbidden = inspect(value, body?.each, scan)
  if (forbidden.whole) throw validationFailed([forbidden.whole])
  if (!body) {
    requireNothing(value)
    return exchange as Parsed
  }
  if (!body.validate(value)) throw validationFailed(explainAll(version.document, body.pointer, value))
  exchange.body = value
  if (body.each) {
    exchange.items = validateItems(body.each, value, forbidden.items, version)
    return exchange as Parsed
  }
  const misspelt = scan.hasFractions ? findMisspelt(bytes, version.document, body.pointer) : []
  if (misspelt.length > 0) throw validationFailed(misspelt)
  return exchange as Parsed
}

type Each = NonNullable<Body['each']>

/** What a body must not hold: the first of it, and in a batch the first of each item, which costs only that item. */
interface Forbidden {
  readonly whole: Detail | undefined
  readonly items: readonly (Detail | undefined)[]
}

/** Throws `malformed_json` where an object has a member twice. */
function inspect(value: unknown, each: Each | undefined, { colons }: JsonScan): Forbidden {
  const tally: Tally = { colons: 0 }
  const given = each && itemsOf(each, value)
  // Items are two levels below the envelope.
  const items = given?.map((item) => findForbidden(item, tally, 2)) ?? []
  const whole = findForbidden(given ? { ...(value as object), [each!.property]: [] } : value, tally)
  if (tally.colons !== colons) throw malformedJson('An object of the body has a member twice.')
  return { whole, items }
}

function itemsOf({ property }: Each, value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, property)) return undefined
  const items = (value as Readonly<Record<string, unknown>>)[property]
  return Array.isArray(items) ? items : undefined
}

/** An operation without a body takes `{}` too. */
function requireNothing(value: unknown): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject) throw validationFailed([{ field: '', issue: 'must be an object without properties' }])
  const faults = Object.keys(value).map((field) => ({ field, issue: 'is not a known property' }))
  if (faults.length > 0) throw validationFailed(faults)
}

/** Validates the items of a batch one by one. */
function validateItems(
  each: Each,
  value: unknown,
  forbidden: readonly (Detail | undefined)[],
  version: VersionTable,
): CheckedItem<unknown>[] {
  return (itemsOf(each, value) ?? []).map((item, index) => {
    const fault = forbidden[index]
    if (fault) return { valid: false, details: [fault] }
    if (each.validate(item)) return { valid: true, value: item }
    return { valid: false, details: explainAll(version.document, each.pointer, item) }
  })
}
