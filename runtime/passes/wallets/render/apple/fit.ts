/** Checks a pass.json against the table of Apple's keys, types and sizes (tables/apple-keys.json, with its sources). */
import table from '../tables/apple-keys.json' with { type: 'json' }
import { fitMembers, type KeyTable, type PassMembers } from '../tables/fit.ts'

const TYPES: KeyTable = table.types

export interface FittedPass {
  readonly pass: PassMembers
  /** Paths of the members that were removed, such as `semantics.eventName`. */
  readonly removed: readonly string[]
}

/**
 * Removes what Apple does not accept for this style. Wallet rejects a file with a wrong type, and ignores keys of
 * other styles.
 *
 * @throws Error if a required member of the pass itself is missing, which is a bug.
 */
export function fitPass(given: PassMembers, style: string): FittedPass {
  const { fitted: pass, removed, missing } = fitMembers(TYPES, 'Pass', given, style)
  if (!pass) throw new Error(`pass.json lacks required members: ${missing.join(', ')}`)
  return { pass, removed }
}

/** Converts the texts of semantic tags to the types of the table. Texts that cannot be converted stay. */
export function readTags(tags: Readonly<Record<string, string>>): PassMembers {
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
