/**
 * A connection to Redis that answers within 250 ms or counts as down.
 *
 * node-redis implements the protocol: URL, TLS, authentication, commands. Reconnection and timeouts are implemented
 * here, and those of node-redis 6.3.1 are off, for these reasons:
 *
 * - Its command `timeout` ends once the command is sent. If Redis hangs after receiving a command, the command waits
 *   forever.
 * - Its `socketTimeout` also closes idle connections, and connections whose response arrived while this process
 *   stalled. It does not reconnect by default.
 * - Its reconnection cannot treat a reachable Redis as down if it is useless: out of memory, read-only, or without
 *   the scripts or the first heartbeat.
 */
import { createClient } from '@redis/client'
import { messageOf } from '../../database/errors.ts'
import type { Script } from './scripts.ts'

export class RedisAway extends Error {
  override name = 'RedisAway'
}

/**
 * A connection that reconnects automatically. Commands are not queued: if a command cannot be sent now, it fails now.
 */
export interface RedisConnection {
  isUp(): boolean
  /**
   * Rejects with `RedisAway` after 250 ms without any response from Redis, or after 1 s without the response to this
   * command.
   */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>
  close(): Promise<void>
}

export interface RedisOptions {
  readonly url: string
  /**
   * The scripts to run. They are loaded at every connect. If a script had to be sent again later, commands sent in
   * between would overtake it, and it could renew a slot that was already released.
   */
  readonly scripts: readonly Script[]
  /** Heartbeat: called after each connect, and then every `beatMs`. If it fails, the connection counts as down. */
  readonly beat: (run: RedisConnection['run']) => Promise<void>
  /** Called when the connection comes up (undefined) or goes down (the reason). */
  readonly changed: (reason: string | undefined) => void
  readonly beatMs?: number
  readonly retryMs?: number
}

type Client = ReturnType<typeof openClient>

/** Response time is measured in timer ticks, because none pass while this process stalls. */
const TICK_MS = 50

/** Ticks without any response after which the connection is dropped. During a burst, responses still arrive. */
const MAX_SILENT_TICKS = 5

/** Longest wait of one command in ticks, even if other responses arrive. */
const MAX_TICKS = 20

/** Milliseconds to open the connection and load the scripts. */
const CONNECT_TIMEOUT_MS = 1000
const MUTE = 'it does not respond'

const BEAT_MS = 2000
const RETRY_MS = 500

/** A script that was sent and has no response yet. */
interface Pending {
  readonly tick: number
  readonly fail: (reason: string) => void
}

function openClient(url: string) {
  return createClient({
    url,
    disableOfflineQueue: true,
    maintNotifications: 'disabled',
    // Required in addition to the timeout in `connect`, because `destroy` does not close a socket that is still
    // connecting.
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_TIMEOUT_MS, noDelay: true },
  })
}

/**
 * Connects and loads the scripts. Rejects if Redis refuses, or if it accepts the connection and does not respond.
 */
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

/** Opens the connection. Resolves after the first attempt, even if it failed. */
export async function connectRedis(options: RedisOptions): Promise<RedisConnection> {
  const { url, scripts, beat, changed, beatMs = BEAT_MS, retryMs = RETRY_MS } = options
  /** Pending scripts in the order in which they were sent, which is also the order of the responses. */
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
    if (!through) return Promise.reject(new RedisAway('Redis is unavailable'))
    return new Promise((resolve, reject) => {
      const each: Pending = {
        tick,
        fail: (reason) => reject(new RedisAway(`Redis is unavailable: ${reason}`)),
      }
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
            // A Redis that is out of memory or read-only is as useless as an unreachable one.
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
        await beat(run).catch(() => {}) // `run` has already dropped the connection
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
