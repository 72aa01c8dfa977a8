import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createClient } from '@redis/client'
import { freePort } from './ports.ts'
import { until } from './programs.ts'

/** A real Redis for one test, which can be stopped and restarted at the same address. */
export interface TestRedis {
  readonly url: string
  readonly pid: () => number
  /** Kills the server and loses its data. */
  kill(): Promise<void>
  /** Starts the server again, empty. */
  start(): Promise<void>
  /** Suspends the server but keeps its connections open. */
  pause(): void
  resume(): void
  /** Sends one command on a separate connection. */
  command(...words: readonly string[]): Promise<unknown>
}

export async function startRedis(): Promise<TestRedis> {
  const port = await freePort()
  const url = `redis://127.0.0.1:${port}`
  let child: ChildProcess | undefined

  const command = async (...words: readonly string[]) => {
    const client = createClient({ url, socket: { reconnectStrategy: false } })
    client.on('error', () => {}) // the command fails with it
    await client.connect()
    try {
      return await client.sendCommand(words)
    } finally {
      client.destroy()
    }
  }
  const answers = () =>
    command('PING').then(
      (reply) => String(reply) === 'PONG',
      () => false,
    )
  const start = async () => {
    const words = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
    child = spawn('redis-server', words, { stdio: 'ignore', cwd: '/tmp' })
    await until('Redis to answer', answers)
  }
  const kill = async () => {
    const ending = child
    child = undefined
    if (!ending || ending.exitCode !== null || ending.signalCode !== null) return
    ending.kill('SIGKILL')
    await once(ending, 'exit')
  }
  await start()
  return {
    url,
    pid: () => child?.pid ?? 0,
    kill,
    start,
    pause: () => void child?.kill('SIGSTOP'),
    resume: () => void child?.kill('SIGCONT'),
    command,
  }
}
