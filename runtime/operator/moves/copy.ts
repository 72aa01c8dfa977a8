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
  hashRows,
  type KeyRange,
  type RangeSummary,
  type RangeVersions,
  type RowKey,
  readRows,
  readVersions,
  summarize,
  summarizeFirst,
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
 * Rows of a range of a large table. A change of one row makes a round hash its range four times, also while writes are refused;
 * more ranges make the first round slower, while the tenant is served.
 */
const RANGE_ROWS = 100

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
  /** Row versions at the target. Undefined if the range was not the same there. */
  readonly there: RangeVersions | undefined
}

/** The ranges of large tables that the latest round has compared, in the order of their keys, by table and owner. */
export type ComparedRanges = Map<string, readonly ComparedRange[]>

/**
 * Compares the rows of a range one by one, copies those that differ, and compares the range again.
 *
 * @param db transaction of the target.
 */
async function copyRange(
  source: Database,
  { reseal }: Pick<CopyTarget, 'reseal'>,
  db: Database,
  { table, owner }: OwnerTable,
  wanted: SummarizedRange,
): Promise<CopiedRange> {
  const { range } = wanted
  const [here, found] = await Promise.all([
    hashRows(source, table, owner, range),
    hashRows(db, table, owner, range),
  ])
  const outdated = [...found.keys()].filter((key) => here.get(key) !== found.get(key))
  const missing = [...here.keys()].filter((key) => here.get(key) !== found.get(key))
  const isKept = table.schema === 'control' && ['tenants', 'oauth_clients'].includes(table.name)
  if (!isKept) await deleteRows(db, table, owner, outdated.map(readKey))
  if (missing.length > 0) {
    const rows = await readRows(source, table, owner, range, missing.map(readKey))
    await writeRows(db, table, await reseal(table, rows))
  }
  const changed = missing.length + outdated.filter((key) => !here.has(key)).length
  const there = await summarize(db, table, owner, range)
  return { changed, isSame: isSame(wanted, there), there }
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

type NoteRange = (summary: RangeSummary, copied: CopiedRange) => void

const unchanged = (there: RangeVersions): CopiedRange => ({ changed: 0, isSame: true, there })

const isUnchanged = (one: RangeVersions | undefined, other: RangeVersions) =>
  one?.rows === other.rows && one.versions === other.versions

/** Splits compared ranges into those that source and target still have, and those that one of them has changed. */
async function findUnchanged(
  source: Database,
  target: CopyTarget,
  { table, owner }: OwnerTable,
  compared: readonly ComparedRange[],
): Promise<readonly (ComparedRange & { readonly isUnchanged: boolean })[]> {
  const cuts = compared.slice(0, -1).map(({ here }) => here.range.upTo!)
  const [here, there] = await Promise.all([
    readVersions(source, table, owner, cuts),
    target.transaction((db) => readVersions(db, table, owner, cuts)),
  ])
  return compared.map((range, at) => ({
    ...range,
    isUnchanged: isUnchanged(range.here, here[at]!) && isUnchanged(range.there, there[at]!),
  }))
}

/** Ranges that one transaction of the target compares. */
const AT_ONCE = 500

function inChunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
    items.slice(at * size, (at + 1) * size),
  )
}

/** Compares a table range by range, and copies what differs. Returns the compared ranges. */
async function copyTable(
  source: Database,
  target: CopyTarget,
  place: OwnerTable,
  note: NoteRange,
  before: readonly ComparedRange[] | undefined,
): Promise<readonly ComparedRange[]> {
  const { table, owner } = place
  const compared: ComparedRange[] = []
  const add = (here: SummarizedRange, copied: CopiedRange) => {
    note(here, copied)
    compared.push({ here, there: copied.isSame ? copied.there : undefined })
  }
  const limit = Math.min(rangeRowsOf(table), RANGE_ROWS)
  if (before === undefined) {
    for await (const here of summarizeRanges(source, place, limit)) {
      const copied = await target.transaction(async (db) => {
        const there = await summarize(db, table, owner, here.range)
        return isSame(here, there) ? unchanged(there) : copyRange(source, target, db, place, here)
      })
      add(here, copied)
    }
    return compared
  }
  for (const some of inChunks(await findUnchanged(source, target, place, before), AT_ONCE))
    await target.transaction(async (db) => {
      for (const { here, there, isUnchanged } of some) {
        if (isUnchanged && there) add(here, unchanged(there))
        else
          for await (const part of summarizeRanges(source, place, limit, here.range))
            add(part, await copyRange(source, target, db, place, part))
      }
    })
  return compared
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
  const noteOf =
    (table: MovedTable): NoteRange =>
    (summary, copied) => {
      const count = counts.get(table)!
      count.rows += summary.rows
      count.hash.update(summary.hash ?? '')
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
        const note = noteOf(table)
        const before = compared.get(nameOf(table))
        const first = here.get(table.name)
        const opposite = there.get(table.name)
        if (!first || !opposite || first.rows >= rangeRowsOf(table))
          compared.set(nameOf(table), await copyTable(source, target, place, note, before))
        else if (isSame(first, opposite)) note(first, unchanged(opposite))
        else {
          const wanted = { ...first, range: {} }
          note(first, await target.transaction((db) => copyRange(source, target, db, place, wanted)))
        }
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
