/** The state of a check and the functions that all keyword checks share. */

/**
 * A problem. `field` is the path as text, such as `fields[0].key`, empty for the value itself. `keyword` is the JSON
 * Schema keyword that the value violates.
 */
export interface Fault {
  readonly path: readonly (string | number)[]
  readonly field: string
  readonly issue: string
  readonly keyword: string
  /** The property or enumeration value that was probably meant. */
  readonly meant?: string
}

export type Json = Readonly<Record<string, unknown>>
export type Formats = Readonly<Record<string, (text: string) => boolean>>

export interface Walk {
  readonly formats: Formats
  readonly faults: Fault[]
  readonly limit: number
  /** Property names and indices from the value to the current location. They are joined to text only for a problem. */
  readonly path: (string | number)[]
}

/** Adds the problems of a value to the walk; adds nothing if the value is valid. */
export type Check = (walk: Walk, value: unknown) => void
export type CheckOf<Value> = (walk: Walk, value: Value) => void

/** The compiled checks of a document. */
export interface KnownDocument {
  readonly openapi30: boolean
  /** Returns the check of a schema; undefined if the schema accepts everything. */
  checkOf(schema: unknown): Check | undefined
  /** Resolves a reference in a schema. */
  targetOf(schema: object, ref: string): unknown
}

/** Returns an own member of an object. Inherited ones such as `constructor` do not count. */
export function own(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined
  return (object as Json)[name]
}

/**
 * Adds a problem, unless the limit is reached.
 *
 * @param below the member of the current location that has the problem.
 * @param meant the name that was probably meant.
 */
export function fault(
  walk: Walk,
  keyword: string,
  issue: string,
  below?: string | number,
  meant?: string,
): void {
  if (walk.faults.length >= walk.limit) return
  const path = below === undefined ? [...walk.path] : [...walk.path, below]
  walk.faults.push({ path, field: fieldOf(path), issue, keyword, ...(meant !== undefined && { meant }) })
}

export function fieldOf(path: readonly (string | number)[]): string {
  let field = ''
  for (const each of path) {
    if (typeof each === 'number') field += `[${each}]`
    else field += field === '' ? each : `.${each}`
  }
  return field
}

export const isFull = (walk: Walk): boolean => walk.faults.length >= walk.limit

export function checkBelow(walk: Walk, check: Check, value: unknown, below: string | number): void {
  walk.path.push(below)
  check(walk, value)
  walk.path.pop()
}

const NONE: readonly Fault[] = []

/** Returns the problems of a value without adding them to the walk. */
export function attempt(walk: Walk, check: Check | undefined, value: unknown): readonly Fault[] {
  if (!check) return NONE
  const { formats, path, limit } = walk
  const faults: Fault[] = []
  check({ formats, path, faults, limit: Math.max(1, limit - walk.faults.length) }, value)
  return faults
}

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export const numberIn = (rules: Json, name: string): number | undefined =>
  typeof rules[name] === 'number' ? rules[name] : undefined

export const listIn = (rules: Json, name: string): readonly unknown[] =>
  Array.isArray(rules[name]) ? rules[name] : []

export const membersIn = (rules: Json, name: string): [string, unknown][] =>
  isObject(rules[name]) ? Object.entries(rules[name]) : []

/** Returns JSON with sorted names, so that equal values produce the same text. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  // JSON.parse turns 1e400 into Infinity, which JSON.stringify cannot represent.
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? '')
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical((value as Json)[name])}`).join()}}`
}

export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`
