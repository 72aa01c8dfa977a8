/**
 * Copies a tenant in rounds. Each round compares the source with the target by hashes of key ranges, and copies the rows that
 * differ. So a round is also the way to follow changes, to resume after a kill, and to prove that both are the same. It needs
 * neither logical replication nor a superuser, and each statement has one tenant, so that it works on a distributed database.
 *
 * A round does not hash a range again if neither the source nor the target has changed it since a round found both the same.
 * The fingerprints of its row versions show that (`RangeVersions`): at the source, the rows are those of then; at the target
 * too; and then, their hashes were the same.
 */
import { createHash } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import type { Pool } from '../../database/pool/pool.ts'
import {
  AS_TEXT,
  deleteRows,
  type HashedRows,
  hashChosen,
  hashRows,
  type KeyRange,
  type RangeSummary,
  type RangeVersions,
  type RowKey,
  readRows,
  readVersions,
  summarize,
  summarizeFirst,
  summaryOfRows,
  type TextRow,
  writeRows,
} from './rows.ts'
import { type MovedTable, ownersOf } from './tables.ts'

/** Changes rows between source and target, such as the encryption of card numbers. */
export type Resealing = (table: MovedTable, rows: readonly TextRow[]) => Promise<readonly TextRow[]>

/** Where a round writes. */
export interface CopyTarget {
  /** Runs the work in one transaction, if this run may still write. */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>
  readonly reseal: Resealing
}

/** Rows and hash of a table. */
export interface TableSummary {
  readonly table: string
  readonly rows: number
  /** SHA-256 of the hashes of its ranges. */
  readonly sha256: string
}

export interface CopyRound {
  readonly rows: number
  /** Rows that were written or deleted at the target. */
  readonly changed: number
  /** Whether the target then had the same rows as the source at the moment of the snapshot. */
  readonly isSame: boolean
  readonly tables: readonly TableSummary[]
}

/** Rows that one statement reads: a bound on the memory of the command, and on the duration of a transaction. */
const READ_ROWS = 1000

/**
 * Rows of a range of a large table. A change of one row makes a round hash its range on both sides, also while writes are
 * refused; more ranges make the first round slower, while the tenant is served.
 */
const RANGE_ROWS = 250

/** Tables with large rows. */
const LARGE = ['dispute_files', 'treasury_report_pieces', 'sandbox_snapshot_pages']

export const rangeRowsOf = ({ name }: MovedTable) => (LARGE.includes(name) ? 20 : READ_ROWS)

/** Reads everything that the work reads as of one moment. */
export function readSnapshot<T>(control: Pool, work: (db: Database) => Promise<T>): Promise<T> {
  return control.transaction(async (db) => {
    await db.query({ text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY' })
    await db.query(AS_TEXT)
    return work(db)
  })
}

const isSame = (one: RangeSummary, other: RangeSummary) => one.rows === other.rows && one.hash === other.hash

interface OwnerTable {
  readonly table: MovedTable
  readonly owner: string
}

/** A range of a table at the source. */
interface SummarizedRange extends RangeSummary {
  readonly range: KeyRange
}

interface CopiedRange extends Pick<CopyRound, 'changed' | 'isSame'> {
  readonly there: RangeVersions
}

/** A range that a round has compared. */
interface ComparedRange {
  readonly here: SummarizedRange
  readonly copied: CopiedRange
}

/** The ranges of large tables that the latest round has compared, in the order of their keys, by table and owner. */
export type ComparedRanges = Map<string, readonly ComparedRange[]>

/** What the source has of a range. */
interface HashedRange extends SummarizedRange {
  readonly hashed: HashedRows
}

async function hashRanges(
  source: Database,
  { table, owner }: OwnerTable,
  ranges: readonly KeyRange[],
): Promise<readonly HashedRange[]> {
  const found = await hashRows(source, table, owner, ranges)
  return ranges.map((range, at) => ({ ...summaryOfRows(found[at]!), range, hashed: found[at]! }))
}

/**
 * Compares the rows of some ranges one by one, and copies those that differ. What the target has stored is compared too.
 *
 * @param db transaction of the target.
 */
async function copyRanges(
  source: Database,
  { reseal }: Pick<CopyTarget, 'reseal'>,
  db: Database,
  { table, owner }: OwnerTable,
  wanted: readonly HashedRange[],
): Promise<readonly CopiedRange[]> {
  const ranges = wanted.map(({ range }) => range)
  const found = await hashRows(db, table, owner, ranges)
  const differences = wanted.map(({ hashed }, at) => ({
    hashed,
    there: new Map(found[at]),
    outdated: differing(found[at]!, hashed),
    missing: differing(hashed, found[at]!),
  }))
  const isKept = table.schema === 'control' && ['tenants', 'oauth_clients'].includes(table.name)
  const outdated = isKept ? [] : differences.flatMap((each) => each.outdated)
  await deleteRows(db, table, owner, outdated.map(readKey))
  const missing = differences.flatMap((each) => each.missing)
  const stored = await copyRows(source, reseal, db, { table, owner }, wanted, missing)
  return differences.map((each) => {
    const { hashed, there } = each
    if (!isKept) for (const key of each.outdated) there.delete(key)
    for (const key of each.missing) if (stored.has(key)) there.set(key, stored.get(key)!)
    return {
      changed: each.missing.length + each.outdated.filter((key) => !hashed.has(key)).length,
      isSame: there.size === hashed.size && differing(hashed, there).length === 0,
      there: summaryOfRows(there),
    }
  })
}

/** Returns the keys of the rows that the other side does not have, or has otherwise. */
const differing = (one: HashedRows, other: HashedRows) =>
  [...one.keys()].filter((key) => one.get(key)!.hash !== other.get(key)?.hash)

/** Copies rows of some ranges. @returns what the target has stored. */
async function copyRows(
  source: Database,
  reseal: Resealing,
  db: Database,
  { table, owner }: OwnerTable,
  wanted: readonly HashedRange[],
  missing: readonly string[],
): Promise<HashedRows> {
  if (missing.length === 0) return new Map()
  const whole = wanted.length === 1 && missing.length === wanted[0]!.rows ? wanted[0]!.range : undefined
  const keys = missing.map(readKey)
  const rows = await readRows(source, table, owner, whole ?? {}, whole ? undefined : keys)
  await writeRows(db, table, await reseal(table, rows))
  return whole ? (await hashRows(db, table, owner, [whole]))[0]! : hashChosen(db, table, owner, keys)
}

const readKey = (key: string) => JSON.parse(key) as RowKey

/** Counts and hashes a table, or a range of it, in smaller ranges in the order of the keys. */
async function* summarizeRanges(
  source: Database,
  { table, owner }: OwnerTable,
  limit: number,
  whole: KeyRange = {},
): AsyncGenerator<SummarizedRange> {
  let { after } = whole
  const { upTo } = whole
  do {
    const here = await summarize(source, table, owner, { after, upTo }, limit)
    const isLast = here.rows < limit
    yield { ...here, range: { after, upTo: isLast ? upTo : here.last } }
    after = isLast ? undefined : here.last
  } while (after !== undefined)
}

/** Counts and hashes the rows of a table, except the columns that each installation has of its own. */
export async function summarizeTable(
  db: Database,
  table: MovedTable,
  owners: readonly string[],
): Promise<TableSummary> {
  const hash = createHash('sha256')
  let rows = 0
  for (const owner of owners) {
    for await (const range of summarizeRanges(db, { table, owner }, rangeRowsOf(table))) {
      rows += range.rows
      hash.update(range.hash ?? '')
    }
  }
  return { table: `${table.schema}.${table.name}`, rows, sha256: hash.digest('hex') }
}

const unchanged = (there: RangeVersions): CopiedRange => ({ changed: 0, isSame: true, there })

const hasSameVersions = (one: RangeVersions, other: RangeVersions) =>
  one.rows === other.rows && one.versions === other.versions

/** Finds out which compared ranges were the same, and have changed neither at the source nor at the target since. */
async function findUnchanged(
  source: Database,
  target: CopyTarget,
  { table, owner }: OwnerTable,
  compared: readonly ComparedRange[],
): Promise<readonly boolean[]> {
  const cuts = compared.slice(0, -1).map(({ here }) => here.range.upTo!)
  const [here, there] = await Promise.all([
    readVersions(source, table, owner, cuts),
    target.transaction((db) => readVersions(db, table, owner, cuts)),
  ])
  return compared.map(
    (range, at) =>
      range.copied.isSame &&
      hasSameVersions(range.here, here[at]!) &&
      hasSameVersions(range.copied.there, there[at]!),
  )
}

/** Changed ranges that one transaction of the target copies. */
const AT_ONCE = 20

/** Hashes ranges again, in order, several in one statement. Ranges that have grown are split. */
async function* hashAgain(
  source: Database,
  place: OwnerTable,
  ranges: readonly KeyRange[],
): AsyncGenerator<readonly HashedRange[]> {
  for (let at = 0; at < ranges.length; at += AT_ONCE) {
    const some = await hashRanges(source, place, ranges.slice(at, at + AT_ONCE))
    if (some.every(({ rows }) => rows <= READ_ROWS)) yield some
    else
      for (const { range } of some)
        for await (const part of summarizeRanges(source, place, rangeRowsOf(place.table), range))
          yield hashRanges(source, place, [part.range])
  }
}

/**
 * Compares all ranges of a table, and copies what differs.
 *
 * @param first the first rows at the source, and those at the target.
 */
async function copyAll(
  source: Database,
  target: CopyTarget,
  place: OwnerTable,
  ...[first, opposite]: readonly [RangeSummary, RangeSummary]
): Promise<readonly ComparedRange[]> {
  const { table, owner } = place
  if (first.rows < rangeRowsOf(table)) {
    const here = { ...first, range: {} }
    if (isSame(first, opposite)) return [{ here, copied: unchanged(opposite) }]
    const hashed = await hashRanges(source, place, [here.range])
    const [copied] = await target.transaction((db) => copyRanges(source, target, db, place, hashed))
    return [{ here, copied: copied! }]
  }
  const compared: ComparedRange[] = []
  for await (const here of summarizeRanges(source, place, Math.min(rangeRowsOf(table), RANGE_ROWS))) {
    const copied = await target.transaction(async (db) => {
      const there = await summarize(db, table, owner, here.range)
      if (isSame(here, there)) return unchanged(there)
      return (await copyRanges(source, target, db, place, await hashRanges(source, place, [here.range])))[0]!
    })
    compared.push({ here, copied })
  }
  return compared
}

/** Compares the ranges of a table that have changed since, and copies what differs. */
async function copyChanged(
  source: Database,
  target: CopyTarget,
  place: OwnerTable,
  before: readonly ComparedRange[],
): Promise<readonly ComparedRange[]> {
  const areUnchanged = await findUnchanged(source, target, place, before)
  const changed = before.filter((_, at) => !areUnchanged[at]).map(({ here }) => here.range)
  const again: ComparedRange[] = []
  for await (const some of hashAgain(source, place, changed)) {
    const copied = await target.transaction((db) => copyRanges(source, target, db, place, some))
    again.push(...some.map(({ hashed: _, ...here }, at) => ({ here, copied: copied[at]! })))
  }
  const parts = again.values()
  return before.flatMap(({ here, copied }, at) => {
    if (areUnchanged[at]) return { here, copied: unchanged(copied.there) }
    const own: ComparedRange[] = []
    for (const part of parts) {
      own.push(part)
      if (part.here.range.upTo === here.range.upTo) break
    }
    return own
  })
}

/**
 * Compares everything, and copies what differs.
 *
 * @param source a snapshot of the source.
 * @param spaces spaces of the tenant in the sandbox, at the source or at the target.
 * @param compared what the previous round has compared; this round replaces it. Empty: every range is hashed.
 */
export async function copyRound(
  source: Database,
  target: CopyTarget,
  tables: readonly MovedTable[],
  tenantId: string,
  spaces: readonly string[],
  compared: ComparedRanges,
): Promise<CopyRound> {
  const counts = new Map(
    tables.map((table) => [
      table,
      { table: `${table.schema}.${table.name}`, rows: 0, hash: createHash('sha256') },
    ]),
  )
  let [changed, same] = [0, true]
  const note = (table: MovedTable, { here, copied }: ComparedRange) => {
    const count = counts.get(table)!
    count.rows += here.rows
    count.hash.update(here.hash ?? '')
    changed += copied.changed
    same &&= copied.isSame
  }
  for (const schema of ['control', 'sandbox', 'live'] as const) {
    const own = tables.filter((table) => table.schema === schema)
    const owners = schema === 'live' ? [tenantId] : spaces
    for (const owner of owners) {
      const nameOf = (table: MovedTable) => `${schema}.${table.name} ${owner}`
      const owned = own.filter((table) => ownersOf(table, tenantId, owners).includes(owner))
      // Most tables have few rows or none, so one statement compares their first ranges.
      const small = owned.filter((table) => !compared.has(nameOf(table)))
      const [here, there] = await Promise.all([
        summarizeFirst(source, small, owner, rangeRowsOf),
        target.transaction((db) => summarizeFirst(db, small, owner, rangeRowsOf)),
      ])
      for (const table of owned) {
        const place = { table, owner }
        const before = compared.get(nameOf(table))
        const ranges = before
          ? await copyChanged(source, target, place, before)
          : await copyAll(source, target, place, here.get(table.name)!, there.get(table.name)!)
        if (ranges.length > 1) compared.set(nameOf(table), ranges)
        for (const range of ranges) note(table, range)
      }
    }
  }
  const summaries = [...counts.values()].map(({ table, rows, hash }) => ({
    table,
    rows,
    sha256: hash.digest('hex'),
  }))
  return {
    rows: summaries.reduce((sum, { rows }) => sum + rows, 0),
    changed,
    isSame: same,
    tables: summaries,
  }
}
