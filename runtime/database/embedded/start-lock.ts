import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { waitFor } from './postmaster.ts'

const SQLITE_BUSY = 5

/**
 * Runs the work while no other process starts, adopts or stops the server of this data directory. Throws if the lock is
 * not free within `timeoutMs`. The kernel releases the lock if its holder dies, on every platform; Node offers such
 * locks only through SQLite.
 */
export async function withStartLock<T>(
  dataDir: string,
  timeoutMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const path = join(dataDir, 'start.lock')
  closeSync(openSync(path, 'a', 0o600))
  const lock = new DatabaseSync(path)
  try {
    if (await waitFor(timeoutMs, () => tryLock(lock))) return await work()
    throw new Error(
      `another process has been starting or stopping the database in ${dataDir} for ${timeoutMs / 1000} s: wait for it or end it`,
    )
  } finally {
    lock.close()
  }
}

function tryLock(lock: DatabaseSync): true | undefined {
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined
    throw error
  }
}
