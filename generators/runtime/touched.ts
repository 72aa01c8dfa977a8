/**
 * Records which changes had an effect during a translation. Generated code calls these functions wherever a change may
 * have an effect. A value that is the same in both versions records nothing. Names of changes start with the version
 * that introduced them: `2026-05-19/block-categories`.
 */
import type { Translate } from './contract.ts'

// biome-ignore lint/suspicious/noExplicitAny: the generated code has precise types
type Value = any

/** Changes recorded by the current translation. Translations are synchronous, so only one runs at a time. */
const noted = new Set<string>()

/** Translates a value. Calls `note` once for each change that had an effect. */
export function translateNoting(translate: Translate, value: Value, note: (change: string) => void): Value {
  if (noted.size > 0) noted.clear()
  const translated = translate(value)
  for (const change of noted) note(change)
  return translated
}

/** Records the change if the value is defined. Returns the value. */
export function touched<Brought>(change: string, value: Brought): Brought {
  if (value !== undefined) noted.add(change)
  return value
}

/** Records the change if the condition is true. Returns the value. */
export function touchedIf<Brought>(change: string, condition: boolean, value: Brought): Brought {
  if (condition) noted.add(change)
  return value
}

/** Records the change if the two values differ. Returns the value after the change. */
export function turned<Turned>(change: string, before: unknown, after: Turned): Turned {
  if (!isSame(before, after)) noted.add(change)
  return after
}

/** Records that a value is ignored, and returns undefined. @param usual a value that means the same as its absence. */
export function ignored(change: string, value: unknown, usual?: unknown): undefined {
  if (value !== undefined && value !== usual) noted.add(change)
}

/** Returns a translation that renames enumeration values. */
export function renames(change: string, names: readonly (readonly [string, string])[]): Translate {
  const table = new Map<unknown, string>(names)
  return (value) => {
    const name = table.get(value)
    return name === undefined ? value : touched(change, name)
  }
}

/** Returns a function that expands a filter value to all values that it covers. */
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

/** Returns a filter that removes the kinds that the change added. */
export function allBut(change: string, added: readonly unknown[]): (kind: unknown) => boolean {
  const left = new Set(added)
  return (kind) => {
    if (!left.has(kind)) return true
    noted.add(change)
    return false
  }
}

/** Returns whether two values are equal as JSON. */
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
