/** Indexes of tables that have rows and are in use: reads and writes go on while they are built or dropped. */
import type pg from 'pg'
import { type IndexStatement, MigrationError } from './migration-files.ts'
import { type Say, withShortLocks } from './migration-locks.ts'

/** A connection that is in no transaction, whose search_path is the schema of the tables. */
export interface IndexSession {
  readonly client: pg.Client
  /** For people: which file and schema. */
  readonly what: string
  readonly say: Say
}

type Definition = NonNullable<IndexStatement['on']>

const SAY_EVERY_MS = 10_000

/** PostgreSQL cuts longer names. */
const MAX_NAME = 63

/** Does what the statement says, unless a run that was killed has done it: what that left unfinished is built anew. */
export async function changeIndex(session: IndexSession, { name, on }: IndexStatement): Promise<void> {
  if (on === undefined) return dropIndex(session, name)
  const kind = await kindOf(session, on.table)
  if (kind === 'r') return buildIndex(session, name, on)
  if (kind === 'p') return buildPartitioned(session, name, on)
  throw new MigrationError(`there is no table ${on.table}`)
}

/** `pg_class.relkind`: r table, p partitioned table, i index, I partitioned index. */
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
  // PostgreSQL has no concurrent way for partitioned indexes; dropping one takes no time once it has its lock.
  if ((await kindOf(session, name)) === 'I') {
    await withShortLocks(session.client, session, async () => {
      await session.client.query(`DROP INDEX ${name}`)
    })
  } else {
    await session.client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
  }
}

/** An index that is not valid costs every write all the same, and refuses what is not unique. */
async function dropUnfinished(session: IndexSession, name: string, table: string): Promise<boolean> {
  if ((await isValid(session, name, table)) !== false) return false
  await session.client.query(`DROP INDEX CONCURRENTLY ${name}`)
  return true
}

/** Without a lock timeout: what it waits for are old transactions, and nobody waits behind it. */
async function buildIndex(session: IndexSession, name: string, on: Definition): Promise<void> {
  const { client, what, say } = session
  const { unique, table, definition } = on
  if (await isValid(session, name, table)) return
  if (await dropUnfinished(session, name, table)) {
    say(`${what}: ${name} was left unfinished; it is built anew`)
  }
  const began = performance.now()
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - began) / 1000)
    say(`${what}: has been building ${name} on ${table} for ${seconds} s; requests go on`)
  }, SAY_EVERY_MS)
  try {
    await client.query(
      `CREATE ${unique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY ${name} ON ${table} ${definition}`,
    )
  } catch (error) {
    await dropUnfinished(session, name, table).catch(() => {}) // the next run does it
    throw error
  } finally {
    clearInterval(timer)
  }
}

/**
 * PostgreSQL builds no index of a partitioned table concurrently. So the table itself gets it first, without its
 * partitions; then each partition, concurrently; with the last one attached the whole becomes valid. A partition that is
 * added meanwhile brings its index along.
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
  throw new MigrationError(`${name} is not valid although every partition of ${table} has it`)
}

/** `events_by_type` of `events_20260528` is `events_20260528_by_type`. */
function partitionIndex(name: string, table: string, partition: string): string {
  const suffix = name.startsWith(`${table}_`) ? name.slice(table.length) : `_${name}`
  return `${partition}${suffix}`.slice(0, MAX_NAME)
}

/** Partitions that have no part of the index. The default one, which is never dropped, is last: with it the index becomes valid. */
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
