/**
 * One connection to Redis that answers within a quarter of a second or counts as down.
 *
 * node-redis speaks the protocol: URL, TLS, authentication, commands. Reconnecting and time limits are written here, and its own
 * are off, because none of them does this (6.3.1):
 *
 * - Its `timeout` of a command ends once the command is sent; one that a mute Redis has received waits for ever.
 * - Its `socketTimeout` also ends a connection that is merely idle, and one whose answer has arrived while this process
 *   stalled, and does not reconnect by default.
 * - Its reconnection has no way to say that a Redis is of no use: one that is full, only reads, or has neither the scripts nor
 *   the first beat yet.
 */
import { createClient } from '@redis/client'
import { messageOf } from '../../database/errors.ts'
import type { Script } from './scripts.ts'

/** No answer can be had from Redis now. */
export class RedisAway extends Error {
  override name = 'RedisAway'
}

/** A connection that comes back by itself. Nothing is kept for later: what cannot be sent now fails now. */
export interface RedisConnection {
  isUp(): boolean
  /** Rejects with `RedisAway`: after a quarter of a second without any answer, or one second without this one. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>
  close(): Promise<void>
}

export interface RedisOptions {
  readonly url: string
  /**
   * What is going to be run. Loaded with each connection: a script that has to be sent a second time is overtaken by what was
   * asked for after it, and would renew a slot that has been given back.
   */
  readonly scripts: readonly Script[]
  /** Asked for whenever a connection was made, and every `beatMs` after that; while it fails the connection is down. */
  readonly beat: (run: RedisConnection['run']) => Promise<void>
  /** The connection came up (undefined) or went down, and why. */
  readonly changed: (reason: string | undefined) => void
  readonly beatMs?: number
  readonly retryMs?: number
}

type Client = ReturnType<typeof openClient>

/** Ticks, not time, measure how long an answer is missing: while this process stalls none pass. */
const TICK_MS = 50

/** Given up when nothing at all is answered for so long; a burst takes its time, and makes progress. */
const MAX_SILENT_TICKS = 5

/** No request waits longer, progress or not. */
const MAX_TICKS = 20

/** Until the connection is open and the scripts are loaded. */
const CONNECT_TIMEOUT_MS = 1000
const MUTE = 'it does not answer'

const BEAT_MS = 2000
const RETRY_MS = 500

/** A script that has been sent and not answered. */
interface Pending {
  readonly tick: number
  readonly fail: (reason: string) => void
}

function openClient(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    // The time limit is needed although `connect` has one: destroying a client does not end a socket that is being opened.
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_TIMEOUT_MS, noDelay: true },
  })
}

/** Rejects when Redis refuses, or accepts the connection and then says nothing. */
async function connect(client: Client, scripts: readonly Script[]): Promise<void> {
  let late = false
  const timer = setTimeout(() => {
    late = true
    client.destroy()
  }, CONNECT_TIMEOUT_MS)
  try {
    await client.connect()
    await Promise.all(scripts.map(({ text }) => client.sendCommand(['SCRIPT', 'LOAD', text])))
  } catch (cause) {
    throw late ? new Error(MUTE, { cause }) : cause
  } finally {
    clearTimeout(timer)
  }
}

/** Opens the connection; resolves after the first attempt, whether or not Redis is there. */
export async function connectRedis(options: RedisOptions): Promise<RedisConnection> {
  const { url, scripts, beat, changed, beatMs = BEAT_MS, retryMs = RETRY_MS } = options
  /** In the order in which they were sent, which is that of the answers. */
  const pending = new Set<Pending>()
  let client: Client | undefined
  let up = false
  let tick = 0
  let answeredAt = 0
  let closed = false
  let wake = () => {}

  const drop = (reason: string) => {
    const [lost, wasUp] = [client, up]
    client = undefined
    up = false
    for (const each of pending) each.fail(reason)
    pending.clear()
    if (lost?.isOpen) lost.destroy()
    if (wasUp && !closed) changed(reason)
    wake()
  }

  const run: RedisConnection['run'] = (script, keys, args) => {
    const through = client
    if (!through) return Promise.reject(new RedisAway('Redis is away'))
    return new Promise((resolve, reject) => {
      const each: Pending = { tick, fail: (reason) => reject(new RedisAway(`Redis is away: ${reason}`)) }
      pending.add(each)
      const words = [String(keys.length), ...keys, ...args]
      through
        .sendCommand(['EVALSHA', script.digest, ...words])
        .catch((error: unknown) => {
          if (!messageOf(error).startsWith('NOSCRIPT')) throw error
          return through.sendCommand(['EVAL', script.text, ...words])
        })
        .then(
          (reply) => {
            pending.delete(each)
            answeredAt = tick
            resolve(reply)
          },
          (error: unknown) => {
            pending.delete(each)
            each.fail(messageOf(error))
            // A Redis that is full, or only reads, is of no more use than one that is gone.
            if (client === through) drop(messageOf(error))
          },
        )
    })
  }

  const watch = setInterval(() => {
    tick += 1
    const oldest: Pending | undefined = pending.values().next().value
    if (!oldest) return
    const silent = tick - Math.max(oldest.tick, answeredAt)
    if (silent > MAX_SILENT_TICKS || tick - oldest.tick > MAX_TICKS) drop(MUTE)
  }, TICK_MS).unref()

  const attempt = async () => {
    const fresh = openClient(url)
    fresh.on('error', (error: unknown) => {
      if (client === fresh) drop(messageOf(error))
    })
    try {
      await connect(fresh, scripts)
      if (closed) return fresh.destroy()
      client = fresh
      await beat(run)
      up = client === fresh
      if (up) changed(undefined)
    } catch (error) {
      if (client === fresh) drop(messageOf(error))
      else if (fresh.isOpen) fresh.destroy()
      return messageOf(error)
    }
  }

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      wake = resolve
      setTimeout(resolve, ms).unref()
    })

  const stayConnected = async () => {
    while (!closed) {
      await rest(up ? beatMs : retryMs)
      if (closed) return
      if (up)
        await beat(run).catch(() => {}) // `run` has dropped the connection
      else await attempt()
    }
  }

  const refused = await attempt()
  if (!up) changed(refused ?? MUTE)
  const running = stayConnected()
  return {
    isUp: () => up,
    run,
    close: async () => {
      closed = true
      clearInterval(watch)
      wake()
      await running
      const open = client
      client = undefined
      up = false
      if (open?.isOpen) open.destroy()
    },
  }
}
