/**
 * What translations change, told by name. Generated code calls the functions below where a change may make a difference, and each
 * notes its change where it did: a value that is the same in both versions notes nothing. Changes are named as
 * `2026-05-19/block-categories`, by the version that brought them.
 */
import type { Translate } from './contract.ts'

// biome-ignore lint/suspicious/noExplicitAny: what stands there is known to the generated code
type Value = any

/** What the translation under way has changed so far: translations are synchronous, so there is one at a time. */
const noted = new Set<string>()

/** Translates a value and gives each change that made a difference, once. */
export function translateNoting(translate: Translate, value: Value, note: (change: string) => void): Value {
  if (noted.size > 0) noted.clear()
  const translated = translate(value)
  for (const change of noted) note(change)
  return translated
}

/** The value, which the change brought to where it goes; undefined is nothing that was brought. */
export function touched<Brought>(change: string, value: Brought): Brought {
  if (value !== undefined) noted.add(change)
  return value
}

/** The value; noted where the condition holds. */
export function touchedIf<Brought>(change: string, condition: boolean, value: Brought): Brought {
  if (condition) noted.add(change)
  return value
}

/** What a function of the change made of a value. */
export function turned<Turned>(change: string, before: unknown, after: Turned): Turned {
  if (!isSame(before, after)) noted.add(change)
  return after
}

/** Undefined, in the place of a value that is left unread. @param usual what it means there all the same. */
export function ignored(change: string, value: unknown, usual?: unknown): undefined {
  if (value !== undefined && value !== usual) noted.add(change)
}

/** Members of an enumeration under their other names. */
export function renames(change: string, names: readonly (readonly [string, string])[]): Translate {
  const table = new Map<unknown, string>(names)
  return (value) => {
    const name = table.get(value)
    return name === undefined ? value : touched(change, name)
  }
}

/** Values of a filter as all that they stand for. */
export function meanings(
  change: string,
  values: readonly (readonly [string, readonly string[]])[],
): (value: unknown) => readonly unknown[] {
  const table = new Map<unknown, readonly string[]>(values)
  return (value) => {
    const all = table.get(value)
    return all ? touched(change, all) : [value]
  }
}

/** Whether a kind is shown: all but those that came with the change. */
export function allBut(change: string, added: readonly unknown[]): (kind: unknown) => boolean {
  const left = new Set(added)
  return (kind) => {
    if (!left.has(kind)) return true
    noted.add(change)
    return false
  }
}

/** Whether two values are the same JSON. */
function isSame(one: Value, other: Value): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const names = Object.keys(one)
  return (
    Array.isArray(one) === Array.isArray(other) &&
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  )
}
