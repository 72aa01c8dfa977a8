import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf } from '../errors.ts'

/** A running server, as described by its lock file. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
  readonly isReady: boolean
}

/** Polling interval for lock files and processes. */
const POLL_MS = 15

/** Polls until the condition returns a value. Resolves to undefined after the timeout. */
export async function waitFor<T>(timeoutMs: number, condition: () => T | undefined): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = condition()
    if (value !== undefined || performance.now() > deadline) return value
    await wait(POLL_MS)
  }
}

export function lockFileOf(data: string): string {
  return join(data, 'postmaster.pid')
}

/**
 * Reads the lock file, even if its process ID now belongs to a different process. Returns undefined if there is no file
 * or it is still being written.
 */
export function readLockFile(data: string): Postmaster | undefined {
  try {
    // According to PostgreSQL's pidfile.h, line 1 is the process ID, line 4 the port and line 8 the status.
    const [pid, , , port, , , , status] = readFileSync(lockFileOf(data), 'utf8').split('\n')
    if (!(Number(pid) > 0)) return undefined
    return { pid: Number(pid), port: Number(port), isReady: status?.trim() === 'ready' }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** Returns the command line of a process as words; empty if the process is gone or a zombie. */
function commandOf(pid: number): readonly string[] {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const words = ['-ww', '-o', 'command=', '-p', String(pid)]
    return execFileSync('ps', words, { encoding: 'utf8' }).trim().split(' ')
  } catch {
    return []
  }
}

function isSamePath(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other)
  } catch {
    return false // not a path
  }
}

/** Process IDs are reused, so this matches only a postgres that serves this directory. */
function isPostmaster(pid: number, data: string): boolean {
  if (process.platform === 'win32') return isAlive(pid)
  const [program = '', ...words] = commandOf(pid)
  return program.includes('postgres') && words.some((word) => isSamePath(word, data))
}

/** Returns the server running on the directory, or undefined if none is, even if a dead one left its lock file. */
export function findPostmaster(data: string): Postmaster | undefined {
  const named = readLockFile(data)
  return named && isPostmaster(named.pid, data) ? named : undefined
}

/** Fast shutdown, then immediate shutdown if that hangs, each with a timeout in milliseconds. */
const STOPS = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 10_000],
] as const

/** Stops a server. Resolves when its process is gone; throws if it does not stop. */
export async function stopPostmaster(pid: number, data: string): Promise<void> {
  const isGone = () => (isPostmaster(pid, data) ? undefined : true)
  for (const [signal, timeoutMs] of STOPS) {
    if (isGone()) return
    process.kill(pid, signal)
    if (await waitFor(timeoutMs, isGone)) return
  }
  throw new Error(`the embedded PostgreSQL (process ${pid}) does not stop: end the process`)
}
