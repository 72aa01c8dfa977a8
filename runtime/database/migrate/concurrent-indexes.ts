/** Builds and drops indexes of tables in use, without blocking reads and writes. */
import type pg from 'pg'
import { type IndexStatement, MigrationError } from './migration-files.ts'
import { type Say, withShortLocks } from './migration-locks.ts'

/** A connection outside any transaction whose search_path is the schema of the tables. */
export interface IndexSession {
  readonly client: pg.Client
  /** File and schema, for progress messages. */
  readonly what: string
  readonly say: Say
}

type Definition = NonNullable<IndexStatement['on']>

const SAY_EVERY_MS = 10_000

/** PostgreSQL truncates longer names. */
const MAX_NAME = 63

/**
 * Runs the statement unless an earlier run has completed it. Rebuilds an index that a killed run left invalid. Throws
 * `MigrationError` if the table does not exist.
 */
export async function changeIndex(session: IndexSession, { name, on }: IndexStatement): Promise<void> {
  if (on === undefined) return dropIndex(session, name)
  const kind = await kindOf(session, on.table)
  if (kind === 'r') return buildIndex(session, name, on)
  if (kind === 'p') return buildPartitioned(session, name, on)
  throw new MigrationError(`table ${on.table} does not exist`)
}

/** Returns `pg_class.relkind`: r table, p partitioned table, i index, I partitioned index. */
async function kindOf({ client }: IndexSession, name: string): Promise<string | undefined> {
  const { rows } = await client.query<{ kind: string }>(
    'SELECT relkind AS kind FROM pg_class WHERE oid = to_regclass($1)',
    [name],
  )
  return rows[0]?.kind
}

async function isValid({ client }: IndexSession, name: string, table: string): Promise<boolean | undefined> {
  const { rows } = await client.query<{ valid: boolean }>(
    `SELECT indisvalid AS valid FROM pg_index
      WHERE indexrelid = to_regclass($1) AND indrelid = to_regclass($2)`,
    [name, table],
  )
  return rows[0]?.valid
}

async function dropIndex(session: IndexSession, name: string): Promise<void> {
  // PostgreSQL cannot drop a partitioned index concurrently. The drop itself is quick once it has its lock.
  if ((await kindOf(session, name)) === 'I') {
    await withShortLocks(session.client, session, async () => {
      await session.client.query(`DROP INDEX ${name}`)
    })
  } else {
    await session.client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
  }
}

/** An invalid index still slows down every write, and a unique one still rejects duplicates. */
async function dropUnfinished(session: IndexSession, name: string, table: string): Promise<boolean> {
  if ((await isValid(session, name, table)) !== false) return false
  await session.client.query(`DROP INDEX CONCURRENTLY ${name}`)
  return true
}

/** Sets no lock timeout: the build waits only for older transactions, and no statement queues behind it. */
async function buildIndex(session: IndexSession, name: string, on: Definition): Promise<void> {
  const { client, what, say } = session
  const { unique, table, definition } = on
  if (await isValid(session, name, table)) return
  if (await dropUnfinished(session, name, table)) {
    say(`${what}: ${name} was left invalid by an earlier run; rebuilding it`)
  }
  const began = performance.now()
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - began) / 1000)
    say(`${what}: building ${name} on ${table} for ${seconds} s; requests are not blocked`)
  }, SAY_EVERY_MS)
  try {
    await client.query(
      `CREATE ${unique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY ${name} ON ${table} ${definition}`,
    )
  } catch (error) {
    await dropUnfinished(session, name, table).catch(() => {}) // the next run drops it
    throw error
  } finally {
    clearInterval(timer)
  }
}

/**
 * PostgreSQL cannot build an index of a partitioned table concurrently. Therefore the index is first created on the
 * parent only, then concurrently on each partition, and attached. When the last partition is attached, the parent index
 * becomes valid. PostgreSQL indexes a partition that is added during the build.
 */
async function buildPartitioned(session: IndexSession, name: string, on: Definition): Promise<void> {
  const { client } = session
  const { unique, table, definition } = on
  if ((await isValid(session, name, table)) === undefined) {
    await withShortLocks(client, session, async () => {
      await client.query(`CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${name} ON ONLY ${table} ${definition}`)
    })
  }
  for (const partition of await listBare(session, name, table)) {
    const own = partitionIndex(name, table, partition)
    await buildIndex(session, own, { ...on, table: partition })
    await withShortLocks(client, session, async () => {
      await client.query(`ALTER INDEX ${name} ATTACH PARTITION ${own}`)
    })
  }
  if (await isValid(session, name, table)) return
  throw new MigrationError(`${name} is not valid although it exists on every partition of ${table}`)
}

/** For example, `events_by_type` on `events_20260528` becomes `events_20260528_by_type`. */
function partitionIndex(name: string, table: string, partition: string): string {
  const suffix = name.startsWith(`${table}_`) ? name.slice(table.length) : `_${name}`
  return `${partition}${suffix}`.slice(0, MAX_NAME)
}

/**
 * Lists the partitions that lack the index. The default partition comes last because it is never dropped: attaching it
 * makes the parent index valid.
 */
async function listBare({ client }: IndexSession, name: string, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = to_regclass($2) AND NOT EXISTS (
        SELECT FROM pg_inherits part JOIN pg_index x ON x.indexrelid = part.inhrelid
         WHERE part.inhparent = to_regclass($1) AND x.indrelid = c.oid)
      ORDER BY pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT', 1`,
    [name, table],
  )
  return rows.map((row) => row.name)
}
