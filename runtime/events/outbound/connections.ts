import net, { type Socket } from 'node:net'
import tls from 'node:tls'

/** Below what most servers allow (5 s and more), so that a connection seldom dies in our hands; a shorter hint of theirs counts. */
const IDLE_MS = 4000

/** By so much a hint is shortened: what is sent then is still under way. */
const HINT_MARGIN_MS = 1000

/** Idle connections to one place, which endpoints of many tenants may share: about as many as come back at once. */
const MAX_IDLE = 256

/** Connections, busy or idle, above which none is kept for later: a process has so many file descriptors. */
const MAX_OPEN = 2048

/** TLS sessions that are kept, so that the next handshake with the same place is short. */
const MAX_SESSIONS = 100

/** Where a connection leads, and who is expected there. */
export interface Place {
  readonly secure: boolean
  /** One that was checked. Nothing else is dialled. */
  readonly address: string
  readonly port: number
  /** Whose certificate it must be; empty: the address's own. */
  readonly name: string
}

/** Whoever has a connection. */
export interface Holder {
  connected(): void
  secured(): void
  received(bytes: Buffer): void
  /** The other end has said all. */
  ended(): void
  failed(error: Error): void
  closed(): void
}

export interface Connection {
  readonly socket: Socket
  readonly key: string
  /** Undefined while it is idle. */
  holder: Holder | undefined
  /** By `performance.now()`. */
  idleUntil: number
}

/** Connections to addresses that were checked. */
export interface Connections {
  /**
   * A connection that is kept, of the same address, port and name: an address that the name has lost is never reached again, and
   * nobody's connection is used for another's name. Undefined where there is none.
   */
  take(place: Place, holder: Holder): Connection | undefined
  open(place: Place, holder: Holder): Connection
  /** Keeps a connection whose answer was read to its end for so long, if there is room for it. */
  give(connection: Connection, seconds: number): void
  close(): void
}

/** Never called: what is dialled is an address. Should that ever change, nothing goes out unchecked. */
function refuseLookup(name: string): never {
  throw new Error(`${name} is looked up although its addresses were checked`)
}

const keyOf = ({ secure, address, port, name }: Place) => `${address}|${port}|${name}|${secure}`

/** @param ca certificates (PEM) to trust instead of the usual roots */
export function createConnections(ca: string | undefined): Connections {
  // Said here, NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
  const secured = { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca && { ca }) } as const
  const idle = new Map<string, Connection[]>()
  const all = new Set<Connection>()
  const sessions = new Map<string, Buffer>()
  let sweeping: NodeJS.Timeout | undefined

  const remember = (key: string, session: Buffer) => {
    const [oldest] = sessions.keys()
    if (sessions.size >= MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest)
    sessions.set(key, session)
  }
  const dial = ({ secure, address: host, port, name }: Place, key: string): Socket => {
    const where = { host, port, lookup: refuseLookup }
    if (!secure) return net.connect(where)
    const session = sessions.get(key)
    const socket = tls.connect({
      ...where,
      ...secured,
      ...(name && { servername: name }),
      ...(session && { session }),
      ALPNProtocols: ['http/1.1'],
    })
    return socket
      .on('session', (next: Buffer) => remember(key, next))
      .on('secureConnect', () => socket.setNoDelay(true))
  }
  const forget = (connection: Connection) => {
    all.delete(connection)
    const kept = idle.get(connection.key)
    const at = kept?.indexOf(connection) ?? -1
    if (at >= 0) kept!.splice(at, 1)
    if (kept?.length === 0) idle.delete(connection.key)
  }
  const sweep = () => {
    const now = performance.now()
    for (const { holder, idleUntil, socket } of all) if (!holder && idleUntil <= now) socket.destroy()
    sweeping = undefined
    watch()
  }
  const watch = () => {
    if (idle.size > 0) sweeping ??= setTimeout(sweep, IDLE_MS / 4).unref()
  }
  return {
    take: (place, holder) => {
      const key = keyOf(place)
      const kept = idle.get(key)
      // The one that was used last: the others may grow old.
      for (let found = kept?.pop(); found; found = kept!.pop()) {
        if (kept!.length === 0) idle.delete(key)
        if (found.socket.destroyed || found.idleUntil <= performance.now()) {
          found.socket.destroy()
          continue
        }
        found.socket.ref()
        found.holder = holder
        return found
      }
      return undefined
    },
    open: (place, holder) => {
      const key = keyOf(place)
      const socket = dial(place, key).setNoDelay(true)
      const connection: Connection = { socket, key, holder, idleUntil: 0 }
      all.add(connection)
      socket
        .on('connect', () => connection.holder?.connected())
        .on('secureConnect', () => connection.holder?.secured())
        // What an idle connection says unasked is nobody's answer.
        .on('data', (bytes: Buffer) =>
          connection.holder ? connection.holder.received(bytes) : socket.destroy(),
        )
        .on('end', () => (connection.holder ? connection.holder.ended() : socket.destroy()))
        .on('error', (error) => {
          sessions.delete(key)
          connection.holder?.failed(error)
        })
        .on('close', () => {
          forget(connection)
          connection.holder?.closed()
        })
      return connection
    },
    give: (connection, seconds) => {
      const { socket, key } = connection
      const idleMs = Math.min(IDLE_MS, seconds * 1000 - HINT_MARGIN_MS)
      const kept = idle.get(key) ?? []
      connection.holder = undefined
      if (idleMs <= 0 || socket.destroyed || all.size > MAX_OPEN || kept.length >= MAX_IDLE) {
        socket.destroy()
        return
      }
      connection.idleUntil = performance.now() + idleMs
      socket.unref() // a process that has nothing else to do may end
      kept.push(connection)
      idle.set(key, kept)
      watch()
    },
    close: () => {
      clearTimeout(sweeping)
      for (const { socket } of all) socket.destroy()
    },
  }
}
