/** The list that this process screens against, and its number among all that were ever in use. */
import type { Logger } from 'pino'
import type { Database, Statement } from '../../database/database.ts'
import { codeOf, UNIQUE_VIOLATION } from '../../database/errors.ts'
import { toTimestamp } from '../../database/types.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import { readList, readListTime } from './list.ts'
import { createMatcher, type Matcher } from './matcher.ts'

export interface ListInUse extends Omit<Matcher, 'unread'> {
  /** What alerts call it. */
  readonly name: string
  readonly version: string
  /** Lists that came into use later have higher ones. */
  readonly number: number
}

const READ_LATEST: Statement = {
  text: 'SELECT number, version FROM control.sanctions_lists ORDER BY number DESC LIMIT 1',
}

const INSERT: Statement = {
  text: 'INSERT INTO control.sanctions_lists (number, version, since) VALUES ($1, $2, $3)',
}

/** The number of the list that came into use last; 0 where there was none. */
export async function readLatestNumber(control: Database): Promise<number> {
  return (await control.query<{ number: number }>(READ_LATEST)).rows[0]?.number ?? 0
}

/** Gives a list its number; a new one, unless it is what came into use last. Several nodes may at once. */
async function register(control: Database, version: string, now: number): Promise<number> {
  for (;;) {
    const latest = (await control.query<{ number: number; version: string }>(READ_LATEST)).rows[0]
    if (latest?.version === version) return latest.number
    const number = (latest?.number ?? 0) + 1
    try {
      await control.query(INSERT, [number, version, toTimestamp(now)])
      return number
    } catch (error) {
      if (codeOf(error) !== UNIQUE_VIOLATION) throw error // another node was quicker
    }
  }
}

/** Records that are logged of a list that cannot be read in part; `doctor` counts them all. */
const MAX_LOGGED = 20

export interface Sanctions {
  /** As of the last time that its files were looked at. */
  list(): ListInUse
  /** Looks at the files, and takes up what has changed in them. Throws where they cannot be read; the list stays then. */
  reload(): Promise<void>
}

/**
 * Reads a list and gives it its number.
 *
 * @param control as the owner. @param path as `readList` takes it. @param now machine time. @param log is told of records that cannot be
 * read: cardholders are not screened against them. Throws if the list cannot be read.
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
    logEach(broken, 'a record of the sanctions list cannot be read and is left out')
    logEach(
      matcher.unread,
      'a name of the sanctions list cannot be compared; screening matches only the same spelling',
    )
    return { name, version, number: await register(control, version, now()), ...matcher }
  }
  const fail = (cause: unknown) => {
    throw new Error(`the sanctions list ${path} cannot be read: ${String(cause)}`, { cause })
  }
  // Before the files are read: what is written meanwhile is found by the next look.
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

/** Looks at the files every ten seconds. */
export function watchSanctions(sanctions: Sanctions, log: Logger): PeriodicJob {
  return runPeriodically(() => sanctions.reload(), {
    pauseMs: PAUSE_MS,
    failed: (err) => log.warn({ err }, 'the sanctions list could not be read; the one before stays in use'),
  })
}
