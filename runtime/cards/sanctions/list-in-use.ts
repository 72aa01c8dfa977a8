/** The sanctions list that this process screens against, and its sequence number among all lists ever used. */
import type { Logger } from 'pino'
import type { Database, Statement } from '../../database/database.ts'
import { codeOf, UNIQUE_VIOLATION } from '../../database/errors.ts'
import { toTimestamp } from '../../database/types.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import { readList, readListTime } from './list.ts'
import { createMatcher, type Matcher } from './matcher.ts'

export interface ListInUse extends Omit<Matcher, 'unread'> {
  /** Name of the list in alerts. */
  readonly name: string
  readonly version: string
  /** Increases with each new list. */
  readonly number: number
}

const READ_LATEST: Statement = {
  text: 'SELECT number, version FROM control.sanctions_lists ORDER BY number DESC LIMIT 1',
}

const INSERT: Statement = {
  text: 'INSERT INTO control.sanctions_lists (number, version, since) VALUES ($1, $2, $3)',
}

/** Returns the sequence number of the newest list, or 0 if there is none. */
export async function readLatestNumber(control: Database): Promise<number> {
  return (await control.query<{ number: number }>(READ_LATEST)).rows[0]?.number ?? 0
}

/**
 * Returns the sequence number of a list version. Assigns the next number, unless the version is already the newest. Safe to
 * run on several nodes at the same time.
 */
async function register(control: Database, version: string, now: number): Promise<number> {
  for (;;) {
    const latest = (await control.query<{ number: number; version: string }>(READ_LATEST)).rows[0]
    if (latest?.version === version) return latest.number
    const number = (latest?.number ?? 0) + 1
    try {
      await control.query(INSERT, [number, version, toTimestamp(now)])
      return number
    } catch (error) {
      if (codeOf(error) !== UNIQUE_VIOLATION) throw error // another node took this number
    }
  }
}

/** Maximum number of unreadable records to log. `doctor` counts all of them. */
const MAX_LOGGED = 20

export interface Sanctions {
  /** Returns the list as of the last time the files were read. */
  list(): ListInUse
  /** Reads the files again if they have changed. If that fails, throws and keeps the current list. */
  reload(): Promise<void>
}

/**
 * Reads a sanctions list and registers its version. Throws if the list cannot be read.
 * @param control a connection with the database owner's rights.
 * @param path as for `readList`.
 * @param now machine time.
 * @param log receives unreadable records, which cardholders are not screened against.
 */
export async function openSanctions(
  control: Database,
  path: string | undefined,
  now: () => number,
  log?: Pick<Logger, 'error'>,
): Promise<Sanctions> {
  const load = async (): Promise<ListInUse> => {
    const { name, version, entries, broken } = await readList(path)
    const matcher = await createMatcher(entries)
    const logEach = (problems: readonly object[], message: string) => {
      for (const problem of problems.slice(0, MAX_LOGGED)) log?.error({ list: name, ...problem }, message)
    }
    logEach(broken, 'A record of the sanctions list cannot be read; screening skips it.')
    logEach(
      matcher.unread,
      'A name on the sanctions list cannot be indexed; screening matches only its exact spelling.',
    )
    return { name, version, number: await register(control, version, now()), ...matcher }
  }
  const fail = (cause: unknown) => {
    throw new Error(`The sanctions list ${path ?? '(built-in test list)'} cannot be read: ${String(cause)}`, {
      cause,
    })
  }
  // Taken before the files are read, so that the next reload finds changes made during the read.
  let writtenAt = await readListTime(path).catch(fail)
  let current = await load().catch(fail)
  return {
    list: () => current,
    async reload() {
      const changedAt = await readListTime(path)
      if (changedAt === writtenAt) return
      current = await load()
      writtenAt = changedAt
    },
  }
}

const PAUSE_MS = 10_000

/** Checks the files for changes every ten seconds. */
export function watchSanctions(sanctions: Sanctions, log: Logger): PeriodicJob {
  return runPeriodically(() => sanctions.reload(), {
    pauseMs: PAUSE_MS,
    failed: (err) =>
      log.warn({ err }, 'The sanctions list could not be read again; the previous list stays in use.'),
  })
}
