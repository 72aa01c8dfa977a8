import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf } from '../errors.ts'

/** A running server, as its lock file describes it. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
  readonly isReady: boolean
}

/** How often a lock file or a process is looked at while something is awaited. */
const POLL_MS = 15

/** Resolves as soon as the condition gives a value; undefined after the deadline. */
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

/** What the lock file names, whichever process has that id now; undefined without a file, or while it is being written. */
export function readLockFile(data: string): Postmaster | undefined {
  try {
    // PostgreSQL's pidfile.h: line 1 is the process, line 4 the port, line 8 the status.
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

/** The words of a process's command line; none for one that is gone or a zombie. */
function commandOf(pid: number): readonly string[] {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    const words = ['-ww', '-o', 'command=', '-p', String(pid)]
    return execFileSync('ps', words, { encoding: 'utf8' }).trim().split(' ')
  } catch {
    return [] // no such process
  }
}

function isSamePath(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other)
  } catch {
    return false // not a path
  }
}

/** Process ids are given out again, so only a postgres that serves this directory counts. */
function isPostmaster(pid: number, data: string): boolean {
  if (process.platform === 'win32') return isAlive(pid)
  const [program = '', ...words] = commandOf(pid)
  return program.includes('postgres') && words.some((word) => isSamePath(word, data))
}

/** The server that runs on the directory; undefined if there is none, even if a dead one left its lock file. */
export function findPostmaster(data: string): Postmaster | undefined {
  const named = readLockFile(data)
  return named && isPostmaster(named.pid, data) ? named : undefined
}

/** A fast shutdown, and if that hangs, an immediate one, each with its time in milliseconds. */
const STOPS = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 10_000],
] as const

/** Stops a server. Resolves when the process is gone. */
export async function stopPostmaster(pid: number, data: string): Promise<void> {
  const isGone = () => (isPostmaster(pid, data) ? undefined : true)
  for (const [signal, timeoutMs] of STOPS) {
    if (isGone()) return
    process.kill(pid, signal)
    if (await waitFor(timeoutMs, isGone)) return
  }
  throw new Error(`the embedded PostgreSQL (process ${pid}) does not stop`)
}
