/**
 * Copies a tenant in rounds. Each round compares the source with the target by hashes of key ranges, and copies the rows that
 * differ. So a round is also the way to follow changes, to resume after a kill, and to prove that both are the same. It needs
 * neither logical replication nor a superuser, and each statement has one tenant, so that it works on a distributed database.
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
  type RowKey,
  readRows,
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

/** Rows of a range: a bound on the memory of the command, and on the duration of a transaction. */
const RANGE_ROWS = 1000

/** Tables with large rows. */
const LARGE = ['dispute_files', 'treasury_report_pieces', 'sandbox_snapshot_pages']

export const rangeRowsOf = ({ name }: MovedTable) => (LARGE.includes(name) ? 20 : RANGE_ROWS)

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

type CopiedRange = Pick<CopyRound, 'changed' | 'isSame'>

/** Copies the rows of a range that differ, and compares the range again. */
async function copyRange(
  source: Database,
  target: CopyTarget,
  { table, owner }: OwnerTable,
  wanted: SummarizedRange,
): Promise<CopiedRange> {
  const { range } = wanted
  const here = await hashRows(source, table, owner, range)
  return target.transaction(async (db) => {
    const there = await hashRows(db, table, owner, range)
    const outdated = [...there.keys()].filter((key) => here.get(key) !== there.get(key))
    const missing = [...here.keys()].filter((key) => here.get(key) !== there.get(key))
    const isKept = table.schema === 'control' && ['tenants', 'oauth_clients'].includes(table.name)
    if (!isKept) {
      const keys = outdated.map((key) => JSON.parse(key) as RowKey)
      await deleteRows(db, table, owner, keys)
    }
    if (missing.length > 0) {
      const chosen = new Set(missing)
      const found = await readRows(source, table, owner, range)
      const rows = found.filter(({ key }) => chosen.has(key)).map(({ row }) => row)
      await writeRows(db, table, await target.reseal(table, rows))
    }
    const changed = missing.length + outdated.filter((key) => !here.has(key)).length
    return { changed, isSame: isSame(wanted, await summarize(db, table, owner, range)) }
  })
}

/** Counts and hashes a table range by range, in the order of its keys. */
async function* summarizeRanges(
  source: Database,
  { table, owner }: OwnerTable,
): AsyncGenerator<SummarizedRange> {
  const limit = rangeRowsOf(table)
  let after: RowKey | undefined
  do {
    const here = await summarize(source, table, owner, { after }, limit)
    const isLast = here.rows < limit
    yield { ...here, range: { after, upTo: isLast ? undefined : here.last } }
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
    for await (const range of summarizeRanges(db, { table, owner })) {
      rows += range.rows
      hash.update(range.hash ?? '')
    }
  }
  return { table: `${table.schema}.${table.name}`, rows, sha256: hash.digest('hex') }
}

type NoteRange = (summary: RangeSummary, copied: CopiedRange) => void

const UNCHANGED: CopiedRange = { changed: 0, isSame: true }

/** Compares a table range by range, and copies what differs. */
async function copyTable(
  source: Database,
  target: CopyTarget,
  place: OwnerTable,
  note: NoteRange,
): Promise<void> {
  const { table, owner } = place
  for await (const here of summarizeRanges(source, place)) {
    const there = await target.transaction((db) => summarize(db, table, owner, here.range))
    note(here, isSame(here, there) ? UNCHANGED : await copyRange(source, target, place, here))
  }
}

/**
 * Compares everything, and copies what differs.
 *
 * @param source a snapshot of the source.
 * @param spaces spaces of the tenant in the sandbox, at the source or at the target.
 */
export async function copyRound(
  source: Database,
  target: CopyTarget,
  tables: readonly MovedTable[],
  tenantId: string,
  spaces: readonly string[],
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
      const owned = own.filter((table) => ownersOf(table, tenantId, owners).includes(owner))
      // Most tables have few rows or none, so one statement compares their first ranges.
      const [here, there] = await Promise.all([
        summarizeFirst(source, owned, owner, rangeRowsOf),
        target.transaction((db) => summarizeFirst(db, owned, owner, rangeRowsOf)),
      ])
      for (const table of owned) {
        const first = here.get(table.name)!
        const place = { table, owner }
        if (first.rows >= rangeRowsOf(table)) await copyTable(source, target, place, noteOf(table))
        else if (isSame(first, there.get(table.name)!)) noteOf(table)(first, UNCHANGED)
        else noteOf(table)(first, await copyRange(source, target, place, { ...first, range: {} }))
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
