/** Checks a pass.json against the table of Apple's keys, types and sizes (tables/apple-keys.json, with its sources). */
import table from '../tables/apple-keys.json' with { type: 'json' }

interface KeyRule {
  /** A JavaScript type, `date`, `color`, `any`, the name of a type in the table, or one of these with `[]`. */
  readonly type: string
  readonly required?: boolean
  /** Styles for which Apple reads the key. */
  readonly styles?: readonly string[]
  /** A key without which Apple ignores this one. */
  readonly needs?: string
  /** Minimum and maximum number of items of a list, or of bytes of a text. */
  readonly min?: number
  readonly max?: number
}

type Members = Readonly<Record<string, unknown>>

const TYPES: Readonly<Record<string, Readonly<Record<string, KeyRule>>>> = table.types

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/
const COLOR = /^rgb\(\d{1,3}, \d{1,3}, \d{1,3}\)$/

export interface FittedPass {
  readonly pass: Members
  /** Paths of the members that were removed, such as `semantics.eventName`. */
  readonly removed: readonly string[]
}

/**
 * Removes what Apple does not accept for this style. Wallet rejects a file with a wrong type, and ignores keys of
 * other styles.
 *
 * @throws Error if a required member of the pass itself is missing, which is a bug.
 */
export function fitPass(given: Members, style: string): FittedPass {
  const removed: string[] = []
  const fitValue = (type: string, value: unknown, at: string): unknown => {
    const isValid = isScalar(type, value)
    if (isValid !== undefined) return isValid ? value : undefined
    if (type.endsWith('[]')) {
      if (!Array.isArray(value)) return undefined
      return value.flatMap((each, index) => take(type.slice(0, -2), each, `${at}[${index}]`) ?? [])
    }
    return typeof value === 'object' && value !== null ? fitMembers(type, value as Members, at) : undefined
  }
  const take = (type: string, value: unknown, at: string): unknown => {
    const fitted = fitValue(type, value, at)
    if (fitted === undefined) removed.push(at)
    return fitted
  }
  const fitMembers = (type: string, members: Members, at: string): Members | undefined => {
    const rules = TYPES[type] ?? {}
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
    const isWhole = Object.entries(rules).every(([name, { required }]) => !required || name in fitted)
    return isWhole ? fitted : undefined
  }
  const pass = fitMembers('Pass', given, '')
  if (!pass) throw new Error(`pass.json lacks a required member; removed: ${removed.join(', ')}`)
  return { pass, removed }
}

/** Returns undefined for types that are not scalar. */
function isScalar(type: string, value: unknown): boolean | undefined {
  if (type === 'any') return true
  if (type === 'date') return typeof value === 'string' && DATE.test(value)
  if (type === 'color') return typeof value === 'string' && COLOR.test(value)
  return TYPES[type] || type.endsWith('[]') ? undefined : typeof value === type
}

function isUsable(
  { styles, needs, min, max }: KeyRule,
  value: unknown,
  others: Members,
  style: string,
): boolean {
  if (styles && !styles.includes(style)) return false
  if (needs !== undefined && !(needs in others)) return false
  const size = Array.isArray(value) ? value.length : Buffer.byteLength(String(value))
  return size >= (min ?? 0) && size <= (max ?? Number.POSITIVE_INFINITY)
}

/** Converts the texts of semantic tags to the types of the table. Texts that cannot be converted stay. */
export function readTags(tags: Readonly<Record<string, string>>): Members {
  return Object.fromEntries(
    Object.entries(tags).map(([name, text]) => [name, readTag(TYPES.SemanticTags?.[name]?.type, text)]),
  )
}

function readTag(type: string | undefined, text: string): unknown {
  if (type === 'string[]') return text.split('\n')
  if (type === 'number') return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : text)
  if (type !== 'CurrencyAmount') return text
  const [, amount, currencyCode] = /^(-?\d+(?:\.\d+)?) ([A-Z]{3})$/.exec(text) ?? []
  return amount === undefined ? text : { amount, currencyCode }
}
