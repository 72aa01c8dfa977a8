/** Lock waits of migrations, bounded so that requests do not queue behind them for long. */
import { setTimeout as wait } from 'node:timers/promises'
import type pg from 'pg'
import { codeOf, DEADLOCK_DETECTED, LOCK_NOT_AVAILABLE } from '../errors.ts'
import { MigrationError } from './migration-files.ts'

/** Key of the advisory lock. The number is arbitrary but must stay the same in every version of this program. */
const LOCK = '7316054213871904'

const TURN_PAUSE_MS = 250

/** Interval of the messages about a wait. */
const SAY_EVERY_MS = 10_000

/**
 * While a schema change waits for its table lock, every later statement on the table queues behind it. This timeout
 * bounds that wait. It is below PostgreSQL's `deadlock_timeout` of 1 s, so that in a deadlock with a request the
 * migration yields.
 */
const LOCK_TIMEOUT_MS = 900

const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 15_000
const MAX_LOCK_WAIT_MS = 15 * 60_000

export type Say = (line: string) => void

/**
 * Waits for the migration lock, which the connection then holds until it closes. The lock belongs to the session. The
 * function polls `pg_try_advisory_lock` because a session that blocks in `pg_advisory_lock` has an open transaction,
 * and CREATE INDEX CONCURRENTLY of the lock holder would wait for it.
 */
export async function acquireMigrationLock(client: pg.Client, say: Say): Promise<void> {
  let said = Number.NEGATIVE_INFINITY
  for (;;) {
    const { rows } = await client.query<{ mine: boolean }>(`SELECT pg_try_advisory_lock(${LOCK}) AS mine`)
    if (rows[0]?.mine) return
    if (performance.now() - said > SAY_EVERY_MS) {
      said = performance.now()
      say(`another process is migrating this database${await nameHolder(client)}; waiting for it to finish`)
    }
    await wait(TURN_PAUSE_MS)
  }
}

/**
 * Runs the work in a transaction during which no process migrates. The lock ends with the transaction, so this also works
 * behind a pooler that has no sessions. It polls for the reason that `acquireMigrationLock` names.
 */
export async function whileNotMigrating(client: pg.Client, work: () => Promise<unknown>): Promise<void> {
  for (;;) {
    await client.query('BEGIN')
    const { rows } = await client.query<{ mine: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${LOCK}) AS mine`,
    )
    if (rows[0]?.mine) break
    await client.query('ROLLBACK')
    await wait(TURN_PAUSE_MS)
  }
  await work()
  await client.query('COMMIT')
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
 * Runs the work in a transaction with short lock waits. If a lock is not available in time, rolls back, so that queued
 * requests proceed, and retries after a pause that doubles each time. Throws `MigrationError` after 15 minutes.
 *
 * @param what names the work in messages.
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
      await client.query('ROLLBACK').catch(() => {}) // the connection is lost, so the server rolls back
      const code = codeOf(error instanceof MigrationError ? error.cause : error)
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK_DETECTED) throw error
      const others = await listTransactions(client)
      if (performance.now() - began > MAX_LOCK_WAIT_MS) {
        throw new MigrationError(
          `${what}: could not lock its tables for 15 minutes${others}: end the transaction that holds the lock and start again`,
          { cause: error },
        )
      }
      say(`${what}: a table that it changes is locked${others}; retrying in ${pause / 1000} s`)
      await wait(pause)
    }
  }
}

/** Names the oldest transactions of other sessions, which probably include the lock holder. */
async function listTransactions(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ words: string }>(
    `SELECT format('%s %L for %s s', pid, application_name, round(extract(epoch FROM now() - xact_start))) AS words
       FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < now() - interval '500 ms'
      ORDER BY xact_start LIMIT 3`,
  )
  return rows.length === 0 ? '' : ` (open transactions: ${rows.map(({ words }) => words).join(', ')})`
}
