/** A file lock between processes on this machine. */
import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

const PAUSE_MS = 50

/** Longer than any work under a lock takes. An older lock counts as abandoned. */
const MAX_AGE_MS = 60_000

interface LockHolder {
  readonly pid: number
  /** Milliseconds since the epoch. */
  readonly since: number
}

/**
 * Runs `work` while holding the lock file `path`. Takes over the lock of a process that was killed.
 * @throws Error if another process holds the lock for more than a minute.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const mine = JSON.stringify({ pid: process.pid, since: Date.now(), id: randomUUID() })
  const deadline = Date.now() + MAX_AGE_MS
  while (!create(path, mine)) {
    if (Date.now() > deadline)
      throw new Error(`another svc process holds ${path}: if none is running, remove the file`)
    const theirs = read(path)
    if (theirs !== undefined && isAbandoned(theirs)) takeAway(path, theirs)
    else await wait(PAUSE_MS)
  }
  try {
    return await work()
  } finally {
    takeAway(path, mine)
  }
}

function create(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function isAbandoned(text: string): boolean {
  const { pid, since } = holderOf(text)
  return Date.now() - since > MAX_AGE_MS || !isRunning(pid)
}

/** Reads the holder of a lock. An incomplete file is being written by another process, so it counts as fresh. */
function holderOf(text: string): LockHolder {
  try {
    return JSON.parse(text)
  } catch {
    return { pid: process.pid, since: Date.now() }
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Removes the lock if its content is `text`. Two processes can find the same abandoned lock: renaming it first ensures that
 * only one removes it, and a newer lock that was renamed by mistake is restored.
 */
function takeAway(path: string, text: string): void {
  const aside = `${path}.${randomUUID()}`
  try {
    renameSync(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  const taken = readFileSync(aside, 'utf8')
  rmSync(aside)
  if (taken !== text) create(path, taken)
}
