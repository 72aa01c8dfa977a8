/**
 * Connections to checked addresses. The agents of `node:http` and `node:https` open them, keep them while they are idle, and
 * destroy an idle connection on which the server sends anything.
 */
import http from 'node:http'
import https from 'node:https'

/** Most servers keep an idle connection for 5 s or more. A shorter `Keep-Alive: timeout` of the server takes precedence. */
const IDLE_MS = 4000

/** Idle connections to one target, which endpoints of many tenants may share. */
const MAX_IDLE = 256

/** If more connections than this are open, busy or idle, none is kept: a process has a limit of file descriptors. */
const MAX_OPEN = 2048

/** Connections are opened to addresses, so Node never calls this. If it did, an unchecked address could be dialed. */
function refuseLookup(name: string): never {
  throw new Error(`${name} must not be looked up: only checked addresses are dialed`)
}

/** The name is part of the key: a connection is never used for a host name that it was not opened for. */
const keyOf = ({ host, port, servername }: https.RequestOptions = {}) => `${host}|${port}|${servername}`

/** Keeps connections after their responses, unless too many are open. */
function keepConnections(agent: http.Agent): http.Agent {
  let open = 0
  const [keep, connect] = [agent.keepSocketAlive.bind(agent), agent.createConnection.bind(agent)]
  agent.getName = keyOf
  agent.keepSocketAlive = (socket) => open <= MAX_OPEN && keep(socket)
  agent.createConnection = (options, created) => {
    open += 1
    return connect(options, created)?.once('close', () => {
      open -= 1
    })
  }
  return agent
}

/** @param ca certificates (PEM) to trust instead of the usual roots */
export function createAgents(ca: string | undefined): Readonly<Record<'http:' | 'https:', http.Agent>> {
  const options = { keepAlive: true, timeout: IDLE_MS, maxFreeSockets: MAX_IDLE, lookup: refuseLookup }
  return {
    'http:': keepConnections(new http.Agent(options)),
    'https:': keepConnections(
      new https.Agent({
        ...options,
        // Because it is set here, NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect.
        rejectUnauthorized: true,
        minVersion: 'TLSv1.2',
        ALPNProtocols: ['http/1.1'],
        ...(ca && { ca }),
      }),
    ),
  }
}

/** Closes the idle connections that the request could reuse. */
export function closeIdle(agent: http.Agent, request: https.RequestOptions): void {
  for (const socket of agent.freeSockets[keyOf(request)] ?? []) socket.destroy()
}
