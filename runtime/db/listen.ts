import { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { clientConfig } from './connection.ts'

export interface Listening {
  stop(): Promise<void>
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5000

/** One session: resolves when its connection has ended or was not made, for whatever reason. */
async function listenOnce(
  config: pg.ClientConfig,
  socket: Socket,
  channel: string,
  heard: (payload?: string) => void,
): Promise<void> {
  const client = new pg.Client({ ...config, stream: () => socket })
  const ended = new Promise<void>((resolve) => {
    client.once('end', resolve)
  })
  client.on('error', () => {}) // `end` follows
  client.on('notification', ({ payload }) => heard(payload))
  const listening = async () => {
    await client.connect()
    await client.query(`LISTEN ${client.escapeIdentifier(channel)}`)
    // What was sent while nobody listened is lost, so look once.
    heard()
  }
  // pg never settles `connect` when the connection ends meanwhile: `ended` has to be waited for from the start.
  await Promise.race([ended, listening().then(() => ended)])
}

/**
 * Calls `heard` for every NOTIFY on the channel, with what it says, and without anything after every (re)connection. Only a hint: it comes late or never
 * behind a pooler in transaction mode, so whoever needs the truth polls as well.
 */
export function listen(
  connection: () => pg.ClientConfig,
  channel: string,
  heard: (payload?: string) => void,
): Listening {
  const stopping = new AbortController()
  let socket = new Socket()
  const run = async () => {
    for (
      let pause = FIRST_PAUSE_MS;
      !stopping.signal.aborted;
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    ) {
      const began = performance.now()
      socket = new Socket()
      await listenOnce(clientConfig(connection(), 'svc listen'), socket, channel, heard).catch(() => {}) // once more
      socket.destroy()
      if (performance.now() - began > LONGEST_PAUSE_MS) pause = FIRST_PAUSE_MS
      await wait(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {}) // stopped
    }
  }
  const running = run()
  return {
    stop: async () => {
      stopping.abort()
      // Nothing is under way that could be lost, and a server that does not answer must not hold us up.
      socket.destroy()
      await running
    },
  }
}
