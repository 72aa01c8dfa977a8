import { createClient } from 'redis'
import { messageOf } from '../database/errors.ts'
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

/** A plain client: one connection, which this file makes again itself. */
type Client = ReturnType<typeof openClient>

/** Ticks, not time, measure how long an answer is missing: while this process stalls none pass. */
const TICK_MS = 50

/** Given up when nothing at all is answered for so long; a burst takes its time, and makes progress. */
const MOST_SILENT_TICKS = 5

/** No request waits longer, progress or not. */
const MOST_TICKS = 20

const CONNECT_TIMEOUT_MS = 1000
const BEAT_MS = 2000
const RETRY_MS = 500

interface Asked {
  readonly tick: number
  readonly fail: (reason: string) => void
}

function openClient(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_TIMEOUT_MS, noDelay: true },
  })
}

async function connectWith(client: Client, scripts: readonly Script[]): Promise<void> {
  await client.connect()
  await Promise.all(scripts.map(({ text }) => client.sendCommand(['SCRIPT', 'LOAD', text])))
}

/** Opens the connection; resolves after the first attempt, whether or not Redis is there. */
export async function connectRedis(options: RedisOptions): Promise<RedisConnection> {
  const { url, scripts, beat, changed, beatMs = BEAT_MS, retryMs = RETRY_MS } = options
  /** In the order in which they were sent, which is that of the answers. */
  const asked = new Set<Asked>()
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
    for (const each of asked) each.fail(reason)
    asked.clear()
    if (lost?.isOpen) lost.destroy()
    if (wasUp && !closed) changed(reason)
    wake()
  }

  const run: RedisConnection['run'] = (script, keys, args) => {
    const through = client
    if (!through) return Promise.reject(new RedisAway('Redis is away'))
    return new Promise((resolve, reject) => {
      const each: Asked = { tick, fail: (reason) => reject(new RedisAway(`Redis is away: ${reason}`)) }
      asked.add(each)
      const words = [String(keys.length), ...keys, ...args]
      through
        .sendCommand(['EVALSHA', script.digest, ...words])
        .catch((error: unknown) => {
          if (!messageOf(error).startsWith('NOSCRIPT')) throw error
          return through.sendCommand(['EVAL', script.text, ...words])
        })
        .then(
          (reply) => {
            asked.delete(each)
            answeredAt = tick
            resolve(reply)
          },
          (error: unknown) => {
            asked.delete(each)
            each.fail(messageOf(error))
            // A Redis that is full, or only reads, is of no more use than one that is gone.
            if (client === through) drop(messageOf(error))
          },
        )
    })
  }

  const watch = setInterval(() => {
    tick += 1
    const oldest: Asked | undefined = asked.values().next().value
    if (!oldest) return
    const silent = tick - Math.max(oldest.tick, answeredAt)
    if (silent > MOST_SILENT_TICKS || tick - oldest.tick > MOST_TICKS) drop('it does not answer')
  }, TICK_MS).unref()

  const attempt = async () => {
    const fresh = openClient(url)
    fresh.on('error', (error: unknown) => {
      if (client === fresh) drop(messageOf(error))
    })
    // The client's own timeout ends when the socket is open, and destroying a client leaves its `connect` pending: who
    // accepts and then says nothing would hold us for ever.
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error('it does not answer')), CONNECT_TIMEOUT_MS)
    try {
      await Promise.race([connectWith(fresh, scripts), late.promise])
      if (closed) return fresh.destroy()
      client = fresh
      await beat(run)
      up = client === fresh
      if (up) changed(undefined)
    } catch (error) {
      if (client === fresh) drop(messageOf(error))
      else if (fresh.isOpen) fresh.destroy()
      return messageOf(error)
    } finally {
      clearTimeout(timer)
    }
  }

  const rest = (ms: number) =>
    new Promise<void>((resolve) => {
      wake = resolve
      setTimeout(resolve, ms).unref()
    })

  const keep = async () => {
    while (!closed) {
      await rest(up ? beatMs : retryMs)
      if (closed) return
      if (up)
        await beat(run).catch(() => {}) // `run` has dropped the connection
      else await attempt()
    }
  }

  const refused = await attempt()
  if (!up) changed(refused ?? 'it does not answer')
  const keeping = keep()
  return {
    isUp: () => up,
    run,
    close: async () => {
      closed = true
      clearInterval(watch)
      wake()
      await keeping
      const open = client
      client = undefined
      up = false
      if (open?.isOpen) open.destroy()
    },
  }
}
