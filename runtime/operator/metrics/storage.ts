import type { Logger } from 'pino'
import type { Database, Statement } from '../../database/database.ts'
import { codeOf, DISK_FULL, messageOf } from '../../database/errors.ts'

/**
 * Whether the database has room to write. Asked after only once a request has met a full disk: it stays full for this
 * process until the probe can be written.
 */
export interface Storage {
  /** A statement failed; errors of another kind change nothing. */
  failed(error: unknown): void
  isFull(): boolean
  /** Asks again where it is full, at most once a second. Gives whether there is room now. */
  hasRoom(): Promise<boolean>
}

/** How long an answer of the probe stands. */
const PROBE_EVERY_MS = 1000

/**
 * A table of its own always grows from nothing, where free space within another table would hide that the disk is full.
 * It is gone with its own commit. 2,000 rows are 16 pages, more than is ever allocated ahead.
 */
const PROBE: Statement = {
  text: `CREATE TEMP TABLE storage_probe ON COMMIT DROP AS
         SELECT n, repeat(md5(n::text), 2) AS filling FROM generate_series(1, 2000) AS n`,
  long: true,
}

export function watchStorage(
  database: Database,
  log: Logger,
  monotonic: () => number = () => performance.now(),
): Storage {
  let full = false
  let probed = 0
  let probing: Promise<void> | undefined
  const probe = async () => {
    try {
      await database.query(PROBE)
      full = false
      log.info('the database has room again')
    } catch (error) {
      log.warn({ err: error }, 'the database still has no room to write')
    }
    probed = monotonic()
    probing = undefined
  }
  return {
    failed(error) {
      if (!hasCode(error, DISK_FULL)) return
      if (!full)
        log.error(
          { reason: messageOf(error) },
          'the disk of the database is full: not ready until it can write',
        )
      full = true
      probed = monotonic()
    },
    isFull: () => full,
    async hasRoom() {
      if (!full) return true
      if (!probing && monotonic() - probed < PROBE_EVERY_MS) return false
      probing ??= probe()
      await probing
      return !full
    },
  }
}

/** Errors of the database arrive as the cause of what says that it is unavailable. */
function hasCode(error: unknown, code: string): boolean {
  if (codeOf(error) === code) return true
  return error instanceof Error && error.cause !== undefined && hasCode(error.cause, code)
}
