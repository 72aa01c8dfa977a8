import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { POLL_MS } from './postmaster.ts'

const SQLITE_BUSY = 5

function isBusy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === SQLITE_BUSY
}

/**
 * Runs the work while no other process starts, adopts or stops the server of this data directory. The lock is one
 * that the kernel gives back when its holder dies, on every platform; Node offers such locks through SQLite only.
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
    const deadline = performance.now() + timeoutMs
    while (!tryLock(lock)) {
      if (performance.now() > deadline) {
        throw new Error(
          `another process has been starting or stopping the database in ${dataDir} for ${timeoutMs} ms`,
        )
      }
      await wait(POLL_MS)
    }
    return await work()
  } finally {
    lock.close()
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}
