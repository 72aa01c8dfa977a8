import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export const ROOT = join(import.meta.dirname, '../..')

/** One look at a condition in this many milliseconds. */
const LOOK_MS = 10

/** Waits until the condition gives a value. Throws after the deadline, saying what was waited for. */
export async function until<T>(
  what: string,
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 20_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await condition()
    if (value !== undefined && value !== false) return value
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`)
    await wait(LOOK_MS)
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** What a program left behind when it ended. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A program under test. */
export interface Program {
  readonly pid: number
  readonly child: ChildProcess
  stdout(): string
  stderr(): string
  /** The first line on stdout as JSON. Throws what stood on stderr when the program ended without one. */
  ready(): Promise<Record<string, unknown>>
  ended: Promise<Ending>
  /** Sends the signal and resolves when the program has ended. */
  end(signal?: NodeJS.Signals): Promise<Ending>
}

const running = new Set<ChildProcess>()

/** Ends, by their process ids, all programs that a test left. For `afterEach`. */
export async function endPrograms(): Promise<void> {
  const left = [...running]
  for (const child of left) child.kill('SIGKILL')
  await Promise.all(
    left.map((child) => child.exitCode === null && child.signalCode === null && once(child, 'exit')),
  )
}

/** Name servers that refuse at once: tests ask nobody outside. */
export const NO_NAMES = '127.0.0.1:9'

/** A machine that is busy with other tests makes the event loop late, which is no load of the service's own. */
export const UNHURRIED = { SVC_MAX_LOOP_DELAY_MS: '60000' }

/** Compiled once for all programs of all tests: most of a start is compiling. */
export const COMPILED = join(ROOT, 'node_modules/.cache/compiled')

/** An environment in which nothing of the tester's own settings is left. */
function cleanEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const { PATH = '', HOME = '/' } = process.env
  const ports = { SANDBOX_PORT: '0', LIVE_PORT: '0', CONSOLE_PORT: '0' }
  const quick = { NODE_COMPILE_CACHE: COMPILED, SVC_DNS_SERVERS: NO_NAMES }
  return { PATH, HOME, ...ports, LOG_LEVEL: 'info', ...quick, ...UNHURRIED, ...env }
}

export function startProgram(
  command: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'> = {},
): Program {
  const child = spawn(command, words, {
    cwd: ROOT,
    ...options,
    env: cleanEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal, stdout, stderr })
    })
  })
  return {
    pid: child.pid ?? 0,
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    ready: async () => {
      while (!stdout.includes('\n')) {
        const more = await Promise.race([once(child.stdout, 'data'), ended])
        if ('code' in more) throw new Error(`the program ended before it was ready:\n${stderr}`)
      }
      return JSON.parse(stdout.slice(0, stdout.indexOf('\n')))
    },
    end: (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
}

/** What `npm start` gives Node: the program, and options of Node before it where there are any. */
export const START: readonly string[] = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  .scripts.start.replace(/^exec (env \S+ )?node /, '')
  .split(' ')

/** The service itself, on ports of its own. */
export function startService(
  env: Readonly<Record<string, string>>,
  words: readonly string[] = ['--json', '--role', 'worker'],
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'> = {},
): Program {
  return startProgram(process.execPath, [...START, ...words], env, options)
}

/** Runs the operator's tool to its end. */
export function runAdmin(
  env: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<Ending> {
  return startProgram(process.execPath, ['runtime/operator/command/admin.ts', ...words], env).ended
}
