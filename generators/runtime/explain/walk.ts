/** A walk over a refused value, the faults that it finds, and what all rules share. */

/** One fault. `field` reads `fields[0].key`, empty for the value itself; `keyword` is the JSON Schema rule broken. */
export interface Fault {
  readonly field: string
  readonly issue: string
  readonly keyword: string
  /** The known name, of a property or of an enumeration's member, that was probably meant. */
  readonly meant?: string
}

export type Json = Readonly<Record<string, unknown>>
export type Formats = Readonly<Record<string, (text: string) => boolean>>

export interface Walk {
  readonly formats: Formats
  readonly faults: Fault[]
  readonly limit: number
  /** Names and indices from the value itself to where the walk stands: text is made of them for faults alone. */
  readonly path: (string | number)[]
}

/** Adds the faults of a value; nothing where it fits. */
export type Check = (walk: Walk, value: unknown) => void
export type CheckOf<Value> = (walk: Walk, value: Value) => void

/** What is known of a document, for all refusals to come. */
export interface KnownDocument {
  readonly openapi30: boolean
  /** @returns undefined for a schema that everything fits. */
  checkOf(schema: unknown): Check | undefined
  /** @returns what a reference of a schema leads to. */
  targetOf(schema: object, ref: string): unknown
}

/** A member that an object has itself: every object inherits `constructor`. */
export function own(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined
  return (object as Json)[name]
}

/**
 * @param below names a member of where the walk stands, when the fault is about that.
 * @param meant what was probably meant.
 */
export function fault(
  walk: Walk,
  keyword: string,
  issue: string,
  below?: string | number,
  meant?: string,
): void {
  if (walk.faults.length >= walk.limit) return
  const field = fieldOf(below === undefined ? walk.path : [...walk.path, below])
  walk.faults.push(meant === undefined ? { field, issue, keyword } : { field, issue, keyword, meant })
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

/** @returns the faults of a value, which the walk does not keep. */
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

/** JSON with sorted names: the same for equal values. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  // JSON has no infinity, but JSON.parse makes one of 1e400.
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? '')
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical((value as Json)[name])}`).join()}}`
}

export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? '' : 's'}`
