/**
 * Checks JSON against a vendor's published schema. Unknown members are errors. Each check reports the first problem and
 * its location.
 */

/** Returns the problem in the vendor's wording; undefined if the value is valid. */
export type ShapeCheck = (value: unknown, at: string) => string | undefined

export const text: ShapeCheck = (value, at) =>
  typeof value === 'string' ? undefined : `Invalid value at '${at}' (TYPE_STRING)`

export const flag: ShapeCheck = (value, at) =>
  typeof value === 'boolean' ? undefined : `Invalid value at '${at}' (TYPE_BOOL)`

export function oneOf(...words: readonly string[]): ShapeCheck {
  return (value, at) =>
    words.some((word) => word === value)
      ? undefined
      : `Invalid value at '${at}' (TYPE_ENUM), ${JSON.stringify(value)}`
}

export function matching(pattern: RegExp, what: string): ShapeCheck {
  return (value, at) =>
    typeof value === 'string' && pattern.test(value) ? undefined : `Invalid value at '${at}': ${what}`
}

export function within(least: number, most: number): ShapeCheck {
  return (value, at) =>
    typeof value === 'number' && value >= least && value <= most
      ? undefined
      : `Invalid value at '${at}': must be between ${least} and ${most}`
}

export function listOf(item: ShapeCheck, most = Number.POSITIVE_INFINITY): ShapeCheck {
  return (value, at) => {
    if (!Array.isArray(value)) return `Invalid value at '${at}' (repeated field)`
    if (value.length > most) return `Too many values at '${at}': ${value.length} of ${most}`
    return firstOf(value.map((each, index) => () => item(each, `${at}[${index}]`)))
  }
}

/** Checks an object. A key that ends in `!` marks a required member. */
export function members(shapes: Readonly<Record<string, ShapeCheck>>): ShapeCheck {
  const required = Object.keys(shapes).filter((name) => name.endsWith('!'))
  const known = new Map(Object.entries(shapes).map(([name, shape]) => [name.replace(/!$/, ''), shape]))
  return (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return `Invalid value at '${at}' (TYPE_MESSAGE)`
    const given = Object.entries(value)
    const missing = required
      .map((name) => name.slice(0, -1))
      .find((name) => !given.some(([member]) => member === name))
    if (missing !== undefined) return `Missing required field: ${at}.${missing}`
    return firstOf(
      given.map(([name, member]) => () => {
        const shape = known.get(name)
        if (!shape)
          return `Invalid JSON payload received. Unknown name "${name}" at '${at}': Cannot find field.`
        return shape(member, `${at}.${name}`)
      }),
    )
  }
}

function firstOf(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const wrong = check()
    if (wrong !== undefined) return wrong
  }
  return undefined
}
