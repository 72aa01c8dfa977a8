/** Processes of the bench of deliveries, each of which does what its parent asks over their channel. */
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** What a process can be asked for; values and answers travel as structured clones. */
type Methods = Record<string, (...values: never[]) => unknown>

interface Question {
  readonly id: number
  readonly method: string
  readonly values: never[]
}

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}

/** A process that obeys. */
export interface Helper<Does extends Methods> {
  /** Rejects with what the method threw, or when the process ends before it answers. */
  ask<Name extends keyof Does & string>(
    method: Name,
    ...values: Parameters<Does[Name]>
  ): Promise<Awaited<ReturnType<Does[Name]>>>
  /** Milliseconds of processor that it has used. */
  used(): Promise<number>
  /** From now on it, and its session, get the processor when nobody else wants it. For one that is started apart. */
  giveWay(): Promise<void>
  /** From now on it gets the processor at once, where this process may ask for that. */
  goFirst(): Promise<boolean>
  end(): Promise<void>
}

/** An interrupted queue may wait for work that nobody does any more; nothing of a bench is worth waiting for. */
const END_MS = 3000

/** Milliseconds of a clock that never runs backwards and is the same for all processes of the machine. */
export function monotonicNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/**
 * Starts a program of this folder that calls `obey`.
 *
 * @param options `apart`: in a session of its own, among which Linux may share the processor first (sched(7), autogroup).
 */
export function startHelper<Does extends Methods>(
  file: string,
  words: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
  options: { readonly apart?: boolean } = {},
): Helper<Does> {
  const child = fork(`${import.meta.dirname}/${file}`, words, {
    env: { ...process.env, ...env },
    serialization: 'advanced',
    detached: options.apart ?? false,
  })
  const waiting = new Map<number, (answer: Answer) => void>()
  const name = [file, ...words].join(' ')
  let asked = 0
  child.on('message', (answer: Answer) => waiting.get(answer.id)?.(answer))
  const ended = once(child, 'exit').then(() => {
    for (const [id, resolve] of waiting) resolve({ id, error: `${name} has ended` })
  })
  const ask = (method: string, values: readonly unknown[]) =>
    new Promise<never>((resolve, reject) => {
      if (!child.connected) throw new Error(`${name} has ended`)
      const id = ++asked
      waiting.set(id, ({ value, error }) => {
        waiting.delete(id)
        if (error === undefined) resolve(value as never)
        else reject(new Error(`${name}, ${method}: ${error}`))
      })
      child.send({ id, method, values })
    })
  return {
    ask: (method, ...values) => ask(method, values),
    used: () => ask('used', []),
    giveWay: () => ask('giveWay', []),
    goFirst: () => ask('goFirst', []),
    end: async () => {
      if (child.connected) child.disconnect()
      const late = setTimeout(() => child.kill('SIGKILL'), END_MS)
      await ended
      clearTimeout(late)
    },
  }
}

/** The priority of a session, where there is such a thing. */
const SESSION = '/proc/self/autogroup'

function giveWay(): void {
  const { PRIORITY_LOW } = constants.priority
  setPriority(PRIORITY_LOW)
  if (existsSync(SESSION)) writeFileSync(SESSION, String(PRIORITY_LOW))
}

/** In front of all threads that are not of the machine's own (sched(7), SCHED_FIFO); gives whether that was granted. */
function goFirst(): boolean {
  const words = ['--fifo', '--all-tasks', '--pid', '1', String(process.pid)]
  return spawnSync('chrt', words, { stdio: 'ignore' }).status === 0
}

/**
 * Makes this process obey its parent, and end when the parent does or lets go.
 *
 * @param close what is to be done before the end.
 */
export function obey(methods: Methods, close: () => unknown): void {
  const used = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  const all: Methods = { ...methods, used, giveWay, goFirst }
  process.on('message', async ({ id, method, values }: Question) => {
    try {
      const perform = all[method]
      if (!perform) throw new Error('nobody knows how')
      const value = await perform(...values)
      if (process.connected) process.send?.({ id, value })
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      if (process.connected) process.send?.({ id, error: text })
    }
  })
  // A terminal's interrupt reaches the whole group; the parent lets go of us in its own time.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
  process.once('disconnect', async () => {
    try {
      await close()
    } finally {
      process.exit()
    }
  })
}
