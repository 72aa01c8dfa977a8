import type { Logger } from 'pino'

/** A scrape must answer before its own time limit, 10 s by default, although the database does not respond. */
const DEADLINE_MS = 2000

/** All series of a scrape come from one read. */
const VALID_MS = 1000

/** Reads values that are the same for the whole deployment. Returns undefined if the database is late or fails. */
export type SharedRead<T> = () => Promise<T | undefined>

/**
 * Shares a read among callers: only one is in progress at a time, so that scrapes do not add to the load of a slow
 * database. Logs failures.
 */
export function shareRead<T>(
  what: string,
  read: () => Promise<T>,
  log: Pick<Logger, 'warn'>,
  deadlineMs: number = DEADLINE_MS,
): SharedRead<T> {
  let current: Promise<T | undefined> | undefined
  const begin = async (): Promise<T | undefined> => {
    try {
      return await read()
    } catch (err) {
      log.warn({ err }, `Reading ${what} for the metrics failed`)
      return undefined
    } finally {
      setTimeout(() => {
        current = undefined
      }, VALID_MS).unref()
    }
  }
  return () => {
    current ??= begin()
    return withinDeadline(current, deadlineMs)
  }
}

/** Resolves with undefined if the promise takes longer. */
export async function withinDeadline<T>(promise: Promise<T>, deadlineMs: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, deadlineMs, undefined)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
