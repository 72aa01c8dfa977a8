/** Prints data in which the same values occur several times: each of them becomes a constant. */
import { identifier } from '../ir/naming.ts'
import { literal, propertyKey } from './literal.ts'

/** Shorter values are not worth a constant. */
const LEAST = 60

export interface SharedLiterals {
  /** Returns the literal of a JSON value, with the names of constants in it. @param name of the value's constant. */
  print(value: unknown, name: string): string
  /** Declarations of the constants that were used, each after those that it uses. */
  readonly constants: readonly string[]
}

/**
 * Counts the parts of the values that are printed later. The constant of a part has the name of its property.
 *
 * @param taken names that constants must not have.
 */
export function shareLiterals(values: readonly unknown[], taken: Iterable<string>): SharedLiterals {
  const counts = new Map<string, number>()
  const count = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const text = JSON.stringify(value)
    const seen = counts.get(text) ?? 0
    counts.set(text, seen + 1)
    // The parts of a value that occurs again are in its constant.
    if (seen === 0 || text.length < LEAST) for (const each of Object.values(value)) count(each)
  }
  for (const value of values) count(value)
  const names = new Map<string, string>()
  const used = new Set(taken)
  const constants: string[] = []
  const print = (value: unknown, property: string): string => {
    if (typeof value !== 'object' || value === null) return literal(value)
    const text = JSON.stringify(value)
    if (text.length < LEAST || counts.get(text)! < 2) return members(value, property)
    const known = names.get(text)
    if (known !== undefined) return known
    const inside = members(value, property)
    const base = identifier(property)
    let name = base
    for (let n = 2; used.has(name); n++) name = `${base}_${n}`
    used.add(name)
    names.set(text, name)
    constants.push(`const ${name} = ${inside} as const`)
    return name
  }
  const members = (value: object, property: string): string => {
    if (Array.isArray(value)) return `[${value.map((each) => print(each, property)).join(', ')}]`
    const printed = Object.entries(value).map(([name, each]) => {
      const [key, text] = [propertyKey(name), print(each, name)]
      return key === text ? key : `${key}: ${text}`
    })
    return printed.length === 0 ? '{}' : `{ ${printed.join(', ')} }`
  }
  return { print, constants }
}
