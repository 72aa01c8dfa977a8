/**
 * Reads entries of a sanctions list from the files of OFAC's Specially Designated Nationals: `sdn.csv`, and with it `alt.csv` (other
 * names), `add.csv` (addresses) and `sdn_comments.csv` (remarks that are too long for the first). https://ofac.treasury.gov/specially-designated-nationals-list-data-formats-data-schemas
 */
import { createHash } from 'node:crypto'
import { messageOf } from '../../database/errors.ts'
import { createSteps } from '../../platform/fairness/pauses.ts'
import type { DateRange } from './births.ts'
import { readBirths } from './births.ts'
import { parseCsv } from './csv.ts'
import { readListedWallets } from './wallets.ts'

export interface ListEntry {
  /** Number of the entry on its list. */
  readonly id: string
  /** Of a craft, a ship or an aircraft, the addresses alone are screened. */
  readonly type: 'individual' | 'entity' | 'craft'
  /** As the list writes them: `FAMILY, Given` for people. */
  readonly names: readonly string[]
  /** Nicknames, acronyms and common names: OFAC does not expect that others are held against them (FAQ 124). */
  readonly weakAliases: readonly string[]
  /** Any of them may be right. */
  readonly births: readonly DateRange[]
  /** `city, country` as the list writes them. */
  readonly places: readonly string[]
  /** Addresses on chains, as `readWallet` writes them. */
  readonly wallets: readonly string[]
  /** Of everything above but the wallets, which no cardholder has: another one means that the entry has changed. */
  readonly hash: string
}

/** Contents of the files; all but the first may be empty. */
export interface OfacFiles {
  readonly sdn: string
  readonly alt: string
  readonly add: string
  readonly comments?: string
}

/** A record of a list that is passed over. */
export interface BrokenRecord {
  /** Number of the entry, where it can be read. */
  readonly id: string | undefined
  /** From 1. */
  readonly record: number
  readonly problem: string
}

const NOTHING = '-0-'

/** Of a record of `sdn.csv`; one with fewer was cut off. */
const FIELDS = 12

/** In the remarks, between quotation marks (FAQ 123); what is `Linked To:` an entry is no name of it. */
const WEAK_ALIAS = /(?:^|;)\s*[afn]\.k\.a\. ?(['"])(.+?)\1\.?\s*(?=;|$)/g

/**
 * Reads people and organisations, and ships and aircraft that have addresses on chains. A record that cannot be read is passed
 * over, and the others are read. Throws where `sdn` is cut off or not in the format: where its last record, or every other one,
 * cannot be read.
 *
 * @param broken takes the records that are passed over.
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
        throw new Error(`record ${index + 1} of sdn.csv, the last, ${problem}`)
      broken.push({ id, record: index + 1, problem })
    }
  }
  if (broken.length > records.length / 2)
    throw new Error(
      `record ${broken[0]!.record} of sdn.csv ${broken[0]!.problem}, and so do most of the others`,
    )
  return entries
}

interface Beside {
  readonly aliases: ReadonlyMap<string | undefined, readonly string[][]>
  readonly addresses: ReadonlyMap<string | undefined, readonly string[][]>
  readonly comments: ReadonlyMap<string | undefined, readonly string[][]>
}

/** Undefined for ships and aircraft without addresses on chains. Throws what is wrong with the record. */
function readEntry(
  record: readonly string[],
  { aliases, addresses, comments }: Beside,
): ListEntry | undefined {
  const [id = '', name = '', type = '', , , , , , , , , remarks = ''] = record
  if (record.length < FIELDS) throw new Error(`has ${record.length} fields instead of ${FIELDS}`)
  if (!/^\d+$/.test(id)) throw new Error('has no number')
  if (name === '') throw new Error('has no name')
  const others = (aliases.get(id) ?? []).map(([, , , other = '']) => other).filter((other) => other !== '')
  const places = (addresses.get(id) ?? []).map(([, , , city = '', country = '']) => `${city}, ${country}`)
  const rest = (comments.get(id) ?? []).map(([, comment = '']) => comment).join('')
  // Remarks may be cut in the middle of a word, which is whole in the two together, or between two.
  const texts = rest === '' ? [remarks] : [remarks, rest, remarks + rest]
  const wallets = [...new Set(texts.flatMap(readListedWallets))]
  const isCraft = type !== 'individual' && type !== NOTHING
  if (isCraft && wallets.length === 0) return undefined
  return hashed({
    id,
    type: isCraft ? 'craft' : type === 'individual' ? 'individual' : 'entity',
    names: [...new Set([name, ...others])],
    weakAliases: [...new Set((remarks + rest).matchAll(WEAK_ALIAS).map(([, , alias]) => alias!))],
    births: readBirths(rest === '' ? remarks : `${remarks}; ${rest}`),
    places: [...new Set(places.filter((place) => !place.includes(NOTHING)))],
    wallets,
  })
}

/** The order in which files have names and addresses is no change. */
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
