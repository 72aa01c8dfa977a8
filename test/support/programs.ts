import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

export const ROOT = join(import.meta.dirname, '../..')

/** Polling interval of `until`, in milliseconds. */
const LOOK_MS = 10

/** Polls until the condition returns a value. After the timeout, throws an error that names what it waited for. */
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

/** Exit status and output of a program. */
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
  /** Parses the first line of stdout as JSON. If the program ends without one, throws its stderr. */
  ready(): Promise<Record<string, unknown>>
  ended: Promise<Ending>
  /** Sends the signal and resolves when the program has ended. */
  end(signal?: NodeJS.Signals): Promise<Ending>
}

const running = new Set<ChildProcess>()

/** Kills, by process ID, all programs that a test left running. For `afterEach`. */
export async function endPrograms(): Promise<void> {
  const left = [...running]
  for (const child of left) child.kill('SIGKILL')
  await Promise.all(
    left.map((child) => child.exitCode === null && child.signalCode === null && once(child, 'exit')),
  )
}

/** DNS server that refuses connections immediately, so that tests never query outside servers. */
export const NO_NAMES = '127.0.0.1:9'

/** Turns off load shedding by event loop delay, because other tests on the machine also delay the event loop. */
export const UNHURRIED = { SVC_MAX_LOOP_DELAY_MS: '60000' }

/** Compile cache shared by all programs of all tests, because most of the start time is compilation. */
export const COMPILED = join(ROOT, 'node_modules/.cache/compiled')

/** Returns an environment without the developer's own settings. */
export function cleanEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
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

/** Arguments that `npm start` passes to Node: the program, after any options of Node. */
export const START: readonly string[] = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  .scripts.start.replace(/^exec (env \S+ )?node /, '')
  .split(' ')

/** Starts the service on free ports. */
export function startService(
  env: Readonly<Record<string, string>>,
  words: readonly string[] = ['--json', '--role', 'worker'],
  options: Pick<SpawnOptions, 'uid' | 'gid' | 'cwd'> = {},
): Program {
  return startProgram(process.execPath, [...START, ...words], env, options)
}

/** Runs the `admin` command and waits for its end. */
export function runAdmin(
  env: Readonly<Record<string, string>>,
  ...words: readonly string[]
): Promise<Ending> {
  return startProgram(process.execPath, ['runtime/operator/command/admin.ts', ...words], env).ended
}
