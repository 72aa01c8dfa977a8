/** Fits the members of a pass to a table of a wallet's keys, types and sizes. */

interface KeyRule {
  /** A JavaScript type, `date`, `color`, `any`, the name of a type in the table, or one of these with `[]`. */
  readonly type: string
  readonly required?: boolean
  /** Styles for which the wallet reads the key. */
  readonly styles?: readonly string[]
  /** A key without which the wallet ignores this one. */
  readonly needs?: string
  /** Minimum and maximum number of items of a list, or of bytes of a text. */
  readonly min?: number
  readonly max?: number
  /** Values of an enumeration. */
  readonly values?: readonly string[]
  /** Regular expression for a text. */
  readonly pattern?: string
}

export type PassMembers = Readonly<Record<string, unknown>>

/** Rules by type and key. */
export type KeyTable = Readonly<Record<string, Readonly<Record<string, KeyRule>>>>

export interface Fit {
  /** The members that fit; undefined if a required one is missing. */
  readonly fitted: PassMembers | undefined
  /** Paths of the members that do not fit, such as `semantics.eventName`. */
  readonly removed: readonly string[]
  /** Paths of the required members that are missing. */
  readonly missing: readonly string[]
}

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/
const COLOR = /^rgb\(\d{1,3}, \d{1,3}, \d{1,3}\)$/

/** Removes the members that do not fit the type of the table. @param style style of the pass, for keys with `styles`. */
export function fitMembers(table: KeyTable, type: string, given: PassMembers, style?: string): Fit {
  const removed: string[] = []
  const missing: string[] = []
  const fitValue = (type: string, value: unknown, at: string): unknown => {
    const isValid = isScalar(table, type, value)
    if (isValid !== undefined) return isValid ? value : undefined
    if (type.endsWith('[]')) {
      if (!Array.isArray(value)) return undefined
      return value.flatMap((each, index) => take(type.slice(0, -2), each, `${at}[${index}]`) ?? [])
    }
    return typeof value === 'object' && value !== null ? fitType(type, value as PassMembers, at) : undefined
  }
  const take = (type: string, value: unknown, at: string): unknown => {
    const fitted = fitValue(type, value, at)
    if (fitted === undefined) removed.push(at)
    return fitted
  }
  const fitType = (type: string, members: PassMembers, at: string): PassMembers | undefined => {
    const rules = table[type] ?? {}
    const path = (name: string) => (at === '' ? name : `${at}.${name}`)
    const entries = Object.entries(members).flatMap(([name, value]): [string, unknown][] => {
      const rule = rules[name]
      if (!rule || !isUsable(rule, value, members, style)) {
        removed.push(path(name))
        return []
      }
      const fitted = take(rule.type, value, path(name))
      return fitted === undefined ? [] : [[name, fitted]]
    })
    const fitted = Object.fromEntries(entries)
    const lacks = Object.keys(rules).filter((name) => rules[name]!.required && !(name in fitted))
    missing.push(...lacks.map(path))
    return lacks.length === 0 ? fitted : undefined
  }
  return { fitted: fitType(type, given, ''), removed, missing }
}

/** Returns undefined for types that are not scalar. */
function isScalar(table: KeyTable, type: string, value: unknown): boolean | undefined {
  if (type === 'any') return true
  if (type === 'date') return typeof value === 'string' && DATE.test(value)
  if (type === 'color') return typeof value === 'string' && COLOR.test(value)
  return table[type] || type.endsWith('[]') ? undefined : typeof value === type
}

function isUsable(
  { styles, needs, min = 0, max = Number.POSITIVE_INFINITY, values, pattern }: KeyRule,
  value: unknown,
  others: PassMembers,
  style: string | undefined,
): boolean {
  if (styles && !styles.includes(style ?? '')) return false
  if (needs !== undefined && !(needs in others)) return false
  if (values && !values.includes(String(value))) return false
  if (pattern !== undefined && !new RegExp(pattern).test(String(value))) return false
  const size = Array.isArray(value) ? value.length : Buffer.byteLength(String(value))
  return size >= min && size <= max
}
