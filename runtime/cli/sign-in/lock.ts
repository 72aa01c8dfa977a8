/** One process at a time, among those of this machine. */
import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

const PAUSE_MS = 50

/** Longer than any work under a lock takes. */
const MAX_AGE_MS = 60_000

interface LockHolder {
  readonly pid: number
  /** Milliseconds since the epoch. */
  readonly since: number
}

/**
 * Does the work while it holds the file `path`, which it makes and removes. What a process left that was killed is taken over.
 *
 * @throws Error when another process holds it for longer than a minute.
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  const mine = JSON.stringify({ pid: process.pid, since: Date.now(), id: randomUUID() })
  const deadline = Date.now() + MAX_AGE_MS
  while (!create(path, mine)) {
    if (Date.now() > deadline)
      throw new Error(`another svc holds ${path}: remove the file if none is running`)
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

/** Another process may just be writing it: then it is a fresh one. */
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

/** Two may find the same abandoned lock: only who moves that very one away has removed it, and a newer one is put back. */
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
