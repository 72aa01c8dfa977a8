import { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { clientConfig } from './connection.ts'

/**
 * Receives the payload of a notification, or nothing after a new connection, when notifications may have been missed.
 */
export type Notified = (payload?: string) => void

/** One connection that listens on all channels of a process. */
export interface ChannelListener {
  /**
   * Calls back for every NOTIFY on the channel and after every (re)connection. Behind a pooler in transaction mode,
   * notifications may come late or never, so a caller that must not miss a change also polls.
   */
  listen(channel: string, notified: Notified): void
  stop(): Promise<void>
}

const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 5000

/**
 * Connects when the first channel is added, and reconnects whenever the connection is lost.
 *
 * @param connected called for each new connection.
 */
export function createListener(
  connection: () => pg.ClientConfig,
  connected: (client: pg.Client) => Promise<void> = async () => {},
): ChannelListener {
  const channels = new Map<string, Notified[]>()
  const stopping = new AbortController()
  let socket = new Socket()
  let current: pg.Client | undefined
  let running: Promise<void> | undefined

  const notify = (channel: string, payload?: string) => {
    for (const notified of channels.get(channel) ?? []) notified(payload)
  }

  const subscribe = async (client: pg.Client, channel: string) => {
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
    notify(channel) // notifications sent before LISTEN are lost, so check once
  }

  /** One session. Resolves when the connection ends or cannot be established. */
  const listenOnce = async () => {
    socket = new Socket()
    const config = clientConfig(connection(), 'svc listen')
    const client = new pg.Client({ ...config, stream: () => socket, pipeline: true })
    const ended = new Promise<void>((resolve) => {
      client.once('end', resolve)
    })
    client.on('error', () => {}) // the `end` event follows and is handled
    client.on('notification', ({ channel, payload }) => notify(channel, payload))
    const session = async () => {
      await client.connect()
      current = client
      await Promise.all([...channels.keys()].map((channel) => subscribe(client, channel)))
      await connected(client)
      await ended
    }
    // If the connection ends during `connect`, pg never settles that promise, so this waits for `ended` from the start.
    await Promise.race([ended, session()]).catch(() => {}) // `run` reconnects
    current = undefined
    socket.destroy()
  }

  const run = async () => {
    for (let pause = FIRST_PAUSE_MS; !stopping.signal.aborted; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      const began = performance.now()
      await listenOnce()
      if (performance.now() - began > MAX_PAUSE_MS) pause = FIRST_PAUSE_MS
      await wait(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {}) // stopped
    }
  }

  return {
    listen: (channel, notified) => {
      channels.set(channel, [...(channels.get(channel) ?? []), notified])
      if (current) subscribe(current, channel).catch(() => socket.destroy()) // the next session subscribes to all channels
      running ??= run()
    },
    stop: async () => {
      stopping.abort()
      // A lost notification does no harm here, and a server that does not respond must not delay the shutdown.
      socket.destroy()
      await running
    },
  }
}
