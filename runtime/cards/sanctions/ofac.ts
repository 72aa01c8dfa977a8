/**
 * Reads the entries of OFAC's Specially Designated Nationals list: `sdn.csv`, with `alt.csv` (other names), `add.csv`
 * (addresses) and `sdn_comments.csv` (remarks that are too long for `sdn.csv`). Format:
 * https://ofac.treasury.gov/specially-designated-nationals-list-data-formats-data-schemas
 */
import { createHash } from 'node:crypto'
import { messageOf } from '../../database/errors.ts'
import { createSteps } from '../../platform/fairness/pauses.ts'
import type { DateRange } from './births.ts'
import { readBirths } from './births.ts'
import { parseCsv } from './csv.ts'
import { readListedWallets } from './wallets.ts'

export interface ListEntry {
  readonly id: string
  /** `craft` is a ship or an aircraft. Only its blockchain addresses are screened. */
  readonly type: 'individual' | 'entity' | 'craft'
  /** Names as the list writes them: `FAMILY, Given` for people. */
  readonly names: readonly string[]
  /**
   * Nicknames, acronyms and common names. OFAC does not expect screening against these (FAQ 124), so only the same words
   * match.
   */
  readonly weakAliases: readonly string[]
  /** Possible dates of birth; any of them may be right. */
  readonly births: readonly DateRange[]
  /** `city, country` as the list writes them. */
  readonly places: readonly string[]
  /** Blockchain addresses in the form that `readWallet` returns. */
  readonly wallets: readonly string[]
  /**
   * Hash of the fields above except the wallets, which do not concern cardholders. A different hash means that the entry
   * changed.
   */
  readonly hash: string
}

/** Contents of the files. All except `sdn` can be empty. */
export interface OfacFiles {
  readonly sdn: string
  readonly alt: string
  readonly add: string
  readonly comments?: string
}

/** A skipped record of a list. */
export interface BrokenRecord {
  /** Number of the entry; undefined if it cannot be read. */
  readonly id: string | undefined
  /** Record number, from 1. */
  readonly record: number
  readonly problem: string
}

const EMPTY = '-0-'

/** Fields in a record of `sdn.csv`. A record with fewer fields is truncated. */
const FIELDS = 12

/**
 * Matches weak aliases: names in quotation marks in the remarks (FAQ 123). Names after `Linked To:` belong to a different
 * entry.
 */
const WEAK_ALIAS = /(?:^|;)\s*[afn]\.k\.a\. ?(['"])(.+?)\1\.?\s*(?=;|$)/g

/**
 * Reads people, organizations, and ships and aircraft with blockchain addresses. Skips records that cannot be read. Throws
 * if `sdn` is truncated or has a different format: if the last record, or more than half of the records, cannot be read.
 * @param broken receives the skipped records.
 */
export async function readOfac(
  { sdn, alt, add, comments = '' }: OfacFiles,
  broken: BrokenRecord[] = [],
): Promise<ListEntry[]> {
  const steps = createSteps()
  const beside = {
    aliases: Map.groupBy(await parseCsv(alt, steps), ([id]) => id),
    addresses: Map.groupBy(await parseCsv(add, steps), ([id]) => id),
    comments: Map.groupBy(await parseCsv(comments, steps), ([id]) => id),
  }
  const records = await parseCsv(sdn, steps)
  const entries: ListEntry[] = []
  for (const [index, record] of records.entries()) {
    if (steps.isOver()) await steps.next()
    try {
      const entry = readEntry(record, beside)
      if (entry) entries.push(entry)
    } catch (error) {
      const problem = messageOf(error)
      const id = /^\d+$/.test(record[0]!) ? record[0] : undefined
      if (index === records.length - 1)
        throw new Error(`sdn.csv is truncated: record ${index + 1}, the last one, ${problem}`)
      broken.push({ id, record: index + 1, problem })
    }
  }
  if (broken.length > records.length / 2)
    throw new Error(
      `sdn.csv has an unexpected format: record ${broken[0]!.record} ${broken[0]!.problem}, and most other records cannot be read either`,
    )
  return entries
}

interface Beside {
  readonly aliases: ReadonlyMap<string | undefined, readonly string[][]>
  readonly addresses: ReadonlyMap<string | undefined, readonly string[][]>
  readonly comments: ReadonlyMap<string | undefined, readonly string[][]>
}

/**
 * Returns the entry of a record, or undefined for ships and aircraft without blockchain addresses. Throws the problem if the
 * record cannot be read.
 */
function readEntry(
  record: readonly string[],
  { aliases, addresses, comments }: Beside,
): ListEntry | undefined {
  const [id = '', name = '', type = '', , , , , , , , , remarks = ''] = record
  if (record.length < FIELDS) throw new Error(`has ${record.length} fields; expected ${FIELDS}`)
  if (!/^\d+$/.test(id)) throw new Error('has no entry number')
  if (name === '') throw new Error('has no name')
  const others = (aliases.get(id) ?? []).map(([, , , other = '']) => other).filter((other) => other !== '')
  const places = (addresses.get(id) ?? []).map(([, , , city = '', country = '']) => `${city}, ${country}`)
  const rest = (comments.get(id) ?? []).map(([, comment = '']) => comment).join('')
  // The remarks may be truncated inside a word or between two words, so search both parts and the joined text.
  const texts = rest === '' ? [remarks] : [remarks, rest, remarks + rest]
  const wallets = [...new Set(texts.flatMap(readListedWallets))]
  const isCraft = type !== 'individual' && type !== EMPTY
  if (isCraft && wallets.length === 0) return undefined
  return hashed({
    id,
    type: isCraft ? 'craft' : type === 'individual' ? 'individual' : 'entity',
    names: [...new Set([name, ...others])],
    weakAliases: [...new Set((remarks + rest).matchAll(WEAK_ALIAS).map(([, , alias]) => alias!))],
    births: readBirths(rest === '' ? remarks : `${remarks}; ${rest}`),
    places: [...new Set(places.filter((place) => !place.includes(EMPTY)))],
    wallets,
  })
}

/** Adds the hash. Names and addresses are sorted, because their order in the files does not matter. */
function hashed(entry: Omit<ListEntry, 'hash'>): ListEntry {
  const { id, type, names, weakAliases, births, places } = entry
  const content = JSON.stringify([
    id,
    type,
    names.toSorted(),
    births,
    places.toSorted(),
    ...weakAliases.toSorted(),
  ])
  return { ...entry, hash: createHash('sha256').update(content).digest('hex').slice(0, 32) }
}
