import type { Logger } from 'pino'
import type { Database, Statement } from '../../database/database.ts'
import { codeOf, DISK_FULL, messageOf } from '../../database/errors.ts'

/**
 * Tracks whether the database has disk space. After a request has failed because the disk is full, it counts as full
 * until a probe can write.
 */
export interface Storage {
  /** Records the error of a failed statement. Ignores errors other than a full disk. */
  failed(error: unknown): void
  isFull(): boolean
  /** Whether there is space. While the disk counts as full, probes it at most once a second. */
  hasRoom(): Promise<boolean>
}

/** How long the result of a probe is valid. */
const PROBE_EVERY_MS = 1000

/**
 * A new table must allocate space, whereas free space in an existing table would hide a full disk. The probe table
 * disappears with its COMMIT. 2,000 rows fill 16 pages, more than PostgreSQL ever allocates ahead.
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
      log.info('The database has disk space again')
    } catch (error) {
      log.warn({ err: error }, 'The database still has no disk space')
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
          'The disk of the database is full; this process is not ready until the database can write',
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

/** Checks causes too, because database errors are wrapped in `DatabaseUnavailable`. */
function hasCode(error: unknown, code: string): boolean {
  if (codeOf(error) === code) return true
  return error instanceof Error && error.cause !== undefined && hasCode(error.cause, code)
}
