import type { Detail } from 'dateline/runtime'
import { joinField } from 'dateline/runtime/parameters'
import { malformedJson } from '../errors/errors.ts'

const MAX_DEPTH = 32

/** Counter for a walk through a value. */
export interface Tally {
  /**
   * Members, plus colons within names and strings. `scanJson` counts the same in the text, so repeated members make a
   * difference.
   */
  colons: number
}

/**
 * Finds values that JSON allows and later code cannot handle: text that PostgreSQL cannot store (NUL, unpaired
 * surrogates), numbers out of range, and the member name `__proto__`. Returns the first one, but walks the whole
 * value because of the tally.
 *
 * @throws ApiError `malformed_json` if the value is nested too deep.
 */
export function findForbidden(value: unknown, tally: Tally, depth = 0): Detail | undefined {
  if (typeof value === 'string') {
    const issue = inspectText(value, tally)
    return issue === undefined ? undefined : { field: '', issue }
  }
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : { field: '', issue: 'is out of range' }
  if (typeof value !== 'object' || value === null) return undefined
  if (depth === MAX_DEPTH)
    throw malformedJson(`The body is nested too deep. The maximum is ${MAX_DEPTH} levels.`)
  return Array.isArray(value)
    ? findInItems(value, tally, depth + 1)
    : findInMembers(value as Readonly<Record<string, unknown>>, tally, depth + 1)
}

function findInItems(items: readonly unknown[], tally: Tally, depth: number): Detail | undefined {
  let first: Detail | undefined
  for (let index = 0; index < items.length; index += 1) {
    const found = findForbidden(items[index], tally, depth)
    if (found && !first) first = { field: joinField(`[${index}]`, found.field), issue: found.issue }
  }
  return first
}

function findInMembers(
  members: Readonly<Record<string, unknown>>,
  tally: Tally,
  depth: number,
): Detail | undefined {
  let first: Detail | undefined
  for (const name of Object.keys(members)) {
    tally.colons += 1
    const textIssue = inspectText(name, tally)
    const issue = name === '__proto__' ? 'is not allowed as a name' : textIssue
    const found = findForbidden(members[name], tally, depth)
    if (first) continue
    if (issue !== undefined) first = { field: name.toWellFormed().replaceAll('\0', '\ufffd'), issue }
    else if (found) first = { field: joinField(name, found.field), issue: found.issue }
  }
  return first
}

function inspectText(text: string, tally: Tally): string | undefined {
  for (let at = text.indexOf(':'); at >= 0; at = text.indexOf(':', at + 1)) tally.colons += 1
  if (text.includes('\0')) return 'must not contain U+0000'
  return text.isWellFormed() ? undefined : 'must not contain an unpaired surrogate'
}
