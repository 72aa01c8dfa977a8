import { execFileSync } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { codeOf } from '../errors.ts'

/** A running server, as its own lock file tells. */
export interface Postmaster {
  readonly pid: number
  readonly port: number
  readonly status: 'starting' | 'ready' | 'stopping'
}

/** How often a lock file or a process is looked at while something is awaited. */
export const POLL_MS = 15

/** The lines of `postmaster.pid` (PostgreSQL's pidfile.h); a file that is being written is short. */
const LINE = { pid: 0, port: 3, status: 7 }

export function lockFile(data: string): string {
  return join(data, 'postmaster.pid')
}

function readLockFile(data: string): readonly string[] | undefined {
  try {
    return readFileSync(lockFile(data), 'utf8').split('\n')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The process id that the lock file names, whoever has it now. */
export function lockedBy(data: string): number | undefined {
  const pid = Number(readLockFile(data)?.[LINE.pid])
  return Number.isInteger(pid) && pid > 0 ? pid : undefined
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
    return execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
      .trim()
      .split(' ')
  } catch {
    return [] // no such process
  }
}

function samePlace(one: string, other: string): boolean {
  try {
    return realpathSync(one) === realpathSync(other)
  } catch {
    return false // a word that is no path
  }
}

/** Process ids are given out again: only a postgres that serves this directory counts. */
export function isPostmaster(pid: number, data: string): boolean {
  if (!isAlive(pid)) return false
  if (process.platform === 'win32') return true
  const [program = '', ...words] = commandOf(pid)
  return program.includes('postgres') && words.some((word) => samePlace(word, data))
}

/** The server that runs on the directory; undefined when there is none, whatever a leftover lock file says. */
export function findPostmaster(data: string): Postmaster | undefined {
  const lines = readLockFile(data)
  const pid = lockedBy(data)
  if (lines === undefined || pid === undefined || !isPostmaster(pid, data)) return undefined
  const status = lines[LINE.status]?.trim()
  return {
    pid,
    port: Number(lines[LINE.port]),
    status: status === 'ready' || status === 'stopping' ? status : 'starting',
  }
}

/** Resolves as soon as the condition gives a value; undefined after the deadline. */
export async function waitFor<T>(timeoutMs: number, condition: () => T | undefined): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = condition()
    if (value !== undefined || performance.now() > deadline) return value
    await wait(POLL_MS)
  }
}

const STOP_TIMEOUT_MS = 30_000
const KILL_TIMEOUT_MS = 10_000

/** Stops a server: fast shutdown, and when that hangs, an immediate one. Resolves when the process is gone. */
export async function stopPostmaster(pid: number, data: string): Promise<void> {
  const gone = () => (isPostmaster(pid, data) ? undefined : true)
  for (const [signal, timeout] of [
    ['SIGINT', STOP_TIMEOUT_MS],
    ['SIGQUIT', KILL_TIMEOUT_MS],
  ] as const) {
    if (gone()) return
    process.kill(pid, signal)
    if (await waitFor(timeout, gone)) return
  }
  throw new Error(`the embedded PostgreSQL (process ${pid}) does not stop`)
}
