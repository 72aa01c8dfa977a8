/** What is deleted after its time, and what is not: old rows that are there from the start. */
import type { Database } from '../../../runtime/database/database.ts'
import { addPartition, listPartitions } from '../../../runtime/database/migrate/partitions.ts'
import { firstIdAt, type IdPrefix, newId } from '../../../runtime/platform/ids.ts'
import { type Evidence, read } from './evidence.ts'
import { fail, mustEqual } from './must.ts'

const DAY_MS = 86_400_000

interface KeptTable {
  readonly name: string
  readonly prefix: IdPrefix
  /** Days that rows are kept: what an installation has without settings. */
  readonly days: number
  /** Days of a partition. */
  readonly span: number
  readonly values: string
}

const TABLES: readonly KeptTable[] = [
  {
    ...{ name: 'events', prefix: 'evt', days: 30, span: 7 },
    values: `(tenant_id, id, sequence, type, version, body, created) VALUES ('ten_old', $1, $2, 'pass.created', '2026-05-19', '{}', $3)`,
  },
  {
    ...{ name: 'webhook_attempts', prefix: 'wdla', days: 30, span: 7 },
    values: `(tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created, updated)
       VALUES ('ten_old', $1, 'whe_old', 'evt_' || $2, 1, 'succeeded', 'schedule', $3, $3, $3)`,
  },
  {
    ...{ name: 'scans', prefix: 'scan', days: 400, span: 56 },
    values: `(tenant_id, id, pass_id, mode, result, created) VALUES ('ten_old', $1, 'pass_' || $2, 'verify', 'accepted', $3)`,
  },
]

/** Ages at the end of the first day, in days beside what is kept: a row that is gone, and one that is still there. */
const AGES = [0.9, -0.1]

/** From the start until the end of the first day. */
const FIRST_DAYS = 3

const createdOf = ({ days }: KeptTable, started: number) =>
  AGES.map((age) => started + (FIRST_DAYS - days - age) * DAY_MS)

/** A partition of attempts of which each row is expired, and one of which a row is not; days before the start. */
const EXPIRED = { from: -39, to: -32 }
const KEPT = { from: -25, to: -18 }

const PARTITIONED = { environment: 'live', table: 'webhook_attempts', prefix: 'wdla' } as const

/** Writes old rows and partitions. @param started milliseconds since the epoch. */
export async function writeOldRows(db: Database, started: number): Promise<void> {
  for (const { from, to } of [EXPIRED, KEPT])
    await addPartition(db, PARTITIONED, started + from * DAY_MS, started + to * DAY_MS)
  for (const table of TABLES)
    for (const [index, created] of createdOf(table, started).entries()) {
      const row = [newId(table.prefix, created), index + 1, new Date(created).toISOString()]
      await db.query({ text: `INSERT INTO live.${table.name} ${table.values}` }, row)
    }
}

/** The job runs every hour, and its timer can be late. */
const LATE_MS = 0.8 * DAY_MS

/** Old rows are deleted, and partitions are there for the next weeks. */
export async function retentionIsKept({ db, now, started, faults }: Evidence): Promise<void> {
  for (const table of TABLES) {
    const { name, prefix, days, span } = table
    const rows = await read<{ created: number }>(
      db,
      `SELECT created FROM live.${name} WHERE tenant_id = 'ten_old' ORDER BY created`,
    )
    const left = rows.map(({ created }) => created)
    const old = left.find((created) => now - created > days * DAY_MS + LATE_MS)
    if (old !== undefined) fail(`a row of ${name} is kept since ${new Date(old).toISOString()}`)
    const lost = createdOf(table, started).find(
      (created) => now - created < days * DAY_MS && !left.includes(created),
    )
    if (lost !== undefined) fail(`a row of ${name} from ${new Date(lost).toISOString()} was deleted`)
    if (name === PARTITIONED.table) await partitionsAreKept(db, now, started)
    // A partition is not added if the default partition has rows of its time already, as after a late job.
    if (faults > 0) continue
    const partitions = await read<{ name: string; bound: string }>(
      db,
      `SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'live.${name}'::regclass`,
    )
    const begins = new Map(partitions.map((each) => [each.name, each.bound]))
    const current = Math.floor((now - DAY_MS) / (span * DAY_MS))
    for (const step of [0, 1, 2]) {
      const [from, to] = [current + step, current + step + 1].map((each) => each * span * DAY_MS)
      const bound = begins.get(`${name}_${new Date(from!).toISOString().slice(0, 10).replaceAll('-', '')}`)
      mustEqual(
        bound,
        `FOR VALUES FROM ('${firstIdAt(prefix, from!)}') TO ('${firstIdAt(prefix, to!)}')`,
        `the partition of ${name} from ${new Date(from!).toISOString()}`,
      )
    }
  }
}

/** A partition is dropped when all of it is expired. */
async function partitionsAreKept(db: Database, now: number, started: number): Promise<void> {
  const names = await listPartitions(db, PARTITIONED)
  const [expired, kept] = [EXPIRED, KEPT].map(({ from }) => started + from * DAY_MS)
  if (names.includes(expired!)) fail('a partition of expired attempts is kept')
  if (now < kept! + 37 * DAY_MS && !names.includes(kept!)) fail('a partition of attempts was dropped')
}
