import type { Body, Judged } from '../contract.ts'
import { validationFailed } from './errors.ts'
import type { Exchange } from './exchange.ts'
import { explainAll } from './explanation.ts'
import { findForbidden, malformedJson, parseJson, readBytes, requireJsonType } from './json-body.ts'
import { findMisspelt } from './number-spelling.ts'
import type { VersionTable } from './versions.ts'

/** Step 10: the body, as the caller's version describes it. */
export function readBody(exchange: Exchange): void | Promise<void> {
  if (exchange.route!.writes) return readWritten(exchange)
}

async function readWritten(exchange: Exchange): Promise<void> {
  const { request, version, route } = exchange
  const { body } = route!.operation
  const bytes = await readBytes(request)
  if (bytes.length === 0) {
    if (body?.required) throw malformedJson('This operation needs a JSON body.')
    return
  }
  requireJsonType(request.headers['content-type'])
  const value = parseJson(bytes)
  const forbidden = findForbidden(value)
  if (forbidden) throw validationFailed([forbidden])
  if (!body) {
    requireNothing(value)
    return
  }
  if (!body.validate(value)) throw validationFailed(explainAll(version.document, body.pointer, value))
  const misspelt = body.each ? [] : findMisspelt(bytes, version.document, body.pointer)
  if (misspelt.length > 0) throw validationFailed(misspelt)
  exchange.body = value
  if (body.each) exchange.items = judgeItems(body.each, value, version)
}

/** An operation without a body takes `{}` too. */
function requireNothing(value: unknown): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject) throw validationFailed([{ field: '', issue: 'must be an object without properties' }])
  const faults = Object.keys(value).map((field) => ({ field, issue: 'is not a known property' }))
  if (faults.length > 0) throw validationFailed(faults)
}

/** Judges the items of a batch one by one. */
function judgeItems(
  each: NonNullable<Body['each']>,
  value: unknown,
  version: VersionTable,
): Judged<unknown>[] {
  const items = (value as Readonly<Record<string, readonly unknown[]>>)[each.property] ?? []
  return items.map((item) =>
    each.validate(item)
      ? { valid: true, value: item }
      : { valid: false, details: explainAll(version.document, each.pointer, item) },
  )
}
