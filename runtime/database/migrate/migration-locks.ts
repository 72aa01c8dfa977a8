/** How migrations wait for locks without making anybody else wait long. */
import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { codeOf, DEADLOCK_DETECTED, LOCK_NOT_AVAILABLE } from '../errors.ts'
import { MigrationError } from './migration-files.ts'

/** Any number, the same in every version of this program. */
const LOCK = '7316054213871904'

const TURN_PAUSE_MS = 250

/** How often people are told that the wait goes on. */
const SAY_EVERY_MS = 10_000

/**
 * While a change of a table waits for its lock, every later statement on that table waits behind it: for no longer than
 * this. Below PostgreSQL's `deadlock_timeout` of 1 s, so that of a migration and a request it is the migration that yields.
 */
const LOCK_TIMEOUT_MS = 900

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 15_000
const MAX_LOCK_WAIT_MS = 15 * 60_000

export type Say = (line: string) => void

/**
 * Waits until no other process migrates this database, for as long as its connection lives. The lock belongs to the
 * session, not to a transaction: CREATE INDEX CONCURRENTLY waits for every transaction that is older than it, and
 * one that waits in `pg_advisory_lock` is a transaction too. So it is only ever tried for.
 */
export async function acquireMigrationLock(client: pg.Client, say: Say): Promise<void> {
  let said = Number.NEGATIVE_INFINITY
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>(`SELECT pg_try_advisory_lock(${LOCK}) AS mine`)
    if (rows[0]?.mine) return
    if (performance.now() - said > SAY_EVERY_MS) {
      said = performance.now()
      say(`another process migrates this database${await nameHolder(client)}: waiting until it has done so`)
    }
    await wait(TURN_PAUSE_MS)
  }
}

async function nameHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (classid::bigint << 32) + objid::bigint = ${LOCK}`,
  )
  return rows[0] ? ` (server process ${rows[0].pid})` : ''
}

/**
 * Runs the work in a transaction in which no lock is waited for long. Where one cannot be had in time, everything is
 * taken back, requests that queued behind go on, and after a pause that grows it is tried again.
 *
 * @param what for people: what waits. Throws `MigrationError` after a quarter of an hour.
 */
export async function withShortLocks(
  client: pg.Client,
  { what, say }: { readonly what: string; readonly say: Say },
  work: () => Promise<void>,
): Promise<void> {
  const began = performance.now()
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
    try {
      await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
      await work()
      await client.query('COMMIT')
      return
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {}) // the connection is gone: the server rolls back
      const code = codeOf(error instanceof MigrationError ? error.cause : error)
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK_DETECTED) throw error
      const others = await listTransactions(client)
      if (performance.now() - began > MAX_LOCK_WAIT_MS) {
        throw new MigrationError(`${what}: got no lock for a quarter of an hour${others}`, { cause: error })
      }
      say(`${what}: a table that it changes is locked${others}; trying again in ${pause / 1000} s`)
      await wait(pause)
    }
  }
}

/** The oldest transactions of others: who keeps a lock for long is among them. */
async function listTransactions(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ words: string }>(
    `SELECT format('%s %L for %s s', pid, application_name, round(extract(epoch FROM now() - xact_start))) AS words
       FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < now() - interval '500 ms'
      ORDER BY xact_start LIMIT 3`,
  )
  return rows.length === 0 ? '' : ` (in a transaction: ${rows.map(({ words }) => words).join(', ')})`
}
