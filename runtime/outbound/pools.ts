import http from 'node:http'
import https from 'node:https'

/** Below what most servers allow (5 s and more), so that a connection seldom dies in our hands; a shorter hint of theirs counts. */
const IDLE_MS = 4000

/** Idle connections to one place, which endpoints of many tenants may share: about as many as come back at once. */
const MOST_IDLE = 256

/** Connections, busy or idle, above which none is kept for later: a process has so many file descriptors. */
const MOST_OPEN = 2048

/** Connections to addresses that were judged. */
export interface Pools {
  readonly http: http.Agent
  readonly https: https.Agent
}

/** Connections that are kept for further requests, and those for one request only. */
export interface Connections {
  readonly kept: Pools
  readonly single: Pools
  close(): void
}

/** The parts of a request that say which connection may carry it. */
interface Place {
  readonly host?: string | null | undefined
  readonly port?: number | string | null | undefined
  readonly servername?: string | undefined
}

interface Gauge {
  open: number
}

/**
 * Keeps a connection for requests to the same address, port and name only, so that an address which the name has lost is never
 * reached again, and nobody's connection is used for another's name. Keeps none when too many are open.
 */
function bounded<A extends http.Agent>(agent: A, gauge: Gauge): A {
  const create = agent.createConnection
  const keep = agent.keepSocketAlive
  agent.getName = (place: Place = {}) => `${place.host}|${place.port}|${place.servername}`
  agent.createConnection = function (options, callback) {
    const socket = create.call(this, options, callback)
    gauge.open += 1
    socket?.once('close', () => {
      gauge.open -= 1
    })
    return socket
  }
  agent.keepSocketAlive = function (socket) {
    return gauge.open <= MOST_OPEN && keep.call(this, socket)
  }
  return agent
}

/** @param ca certificates (PEM) to trust instead of the usual roots */
export function createConnections(ca: string | undefined): Connections {
  const gauge: Gauge = { open: 0 }
  // Said here, NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect. No proxy either: only the global agents read those variables.
  const secure = { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(ca && { ca }) } as const
  const idle = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MOST_IDLE }
  const all = {
    kept: {
      http: bounded(new http.Agent(idle), gauge),
      https: bounded(new https.Agent({ ...secure, ...idle }), gauge),
    },
    single: { http: new http.Agent(), https: new https.Agent(secure) },
  }
  return {
    ...all,
    close: () => {
      for (const { http: plain, https: tls } of Object.values(all)) {
        plain.destroy()
        tls.destroy()
      }
    },
  }
}
