/**
 * Entries of a sanctions list in the files of OFAC's Specially Designated Nationals: `sdn.csv`, and with it `alt.csv` (other
 * names) and `add.csv` (addresses). https://ofac.treasury.gov/specially-designated-nationals-list-data-formats-data-schemas
 */
import { createHash } from 'node:crypto'
import { createSteps } from '../platform/fairness/pauses.ts'
import type { DateRange } from './births.ts'
import { readBirths } from './births.ts'
import { parseCsv } from './csv.ts'

export interface ListEntry {
  /** Number of the entry on its list. */
  readonly id: string
  readonly type: 'individual' | 'entity'
  /** As the list writes them: `FAMILY, Given` for people. */
  readonly names: readonly string[]
  /** Any of them may be right. */
  readonly births: readonly DateRange[]
  /** `city, country` as the list writes them. */
  readonly places: readonly string[]
  /** Of everything above: another one means that the entry has changed. */
  readonly hash: string
}

/** Contents of the files; the last two may be empty. */
export interface OfacFiles {
  readonly sdn: string
  readonly alt: string
  readonly add: string
}

const NOTHING = '-0-'

/** Of a record of `sdn.csv`; one with fewer was cut off. */
const FIELDS = 12

/**
 * Reads people and organisations; ships and aircraft are left out, as they hold no cards. Throws where `sdn` is not in the
 * format.
 */
export async function readOfac({ sdn, alt, add }: OfacFiles): Promise<ListEntry[]> {
  const steps = createSteps()
  const aliases = Map.groupBy(await parseCsv(alt, steps), ([id]) => id)
  const addresses = Map.groupBy(await parseCsv(add, steps), ([id]) => id)
  const entries: ListEntry[] = []
  for (const [index, record] of (await parseCsv(sdn, steps)).entries()) {
    if (steps.isOver()) await steps.next()
    const [id = '', name = '', type = '', , , , , , , , , remarks = ''] = record
    if (!/^\d+$/.test(id) || name === '' || record.length < FIELDS)
      throw new Error(`record ${index + 1} of sdn.csv is no entry`)
    if (type !== 'individual' && type !== NOTHING) continue
    const others = (aliases.get(id) ?? []).map(([, , , other = '']) => other).filter((other) => other !== '')
    const places = (addresses.get(id) ?? []).map(([, , , city = '', country = '']) => `${city}, ${country}`)
    entries.push(
      hashed({
        id,
        type: type === 'individual' ? ('individual' as const) : ('entity' as const),
        names: [...new Set([name, ...others])],
        births: readBirths(remarks),
        places: [...new Set(places.filter((place) => !place.includes(NOTHING)))],
      }),
    )
  }
  return entries
}

/** The order in which files have names and addresses is no change. */
function hashed(entry: Omit<ListEntry, 'hash'>): ListEntry {
  const { id, type, names, births, places } = entry
  const content = JSON.stringify([id, type, names.toSorted(), births, places.toSorted()])
  return { ...entry, hash: createHash('sha256').update(content).digest('hex').slice(0, 32) }
}
