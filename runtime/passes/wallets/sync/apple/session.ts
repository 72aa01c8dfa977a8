/** An HTTP/2 connection that is reopened when it is lost. */
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2'

export interface ApnsSessionOptions {
  /** An origin. `http:` (without TLS) is for development. */
  readonly url: string
  readonly tls?: Pick<SecureClientSessionOptions, 'ca' | 'cert' | 'key' | 'passphrase'>
  /** Limit for the whole request, until the end of the response. */
  readonly timeoutMs: number
  /** Maximum number of concurrent requests. The server's limit applies if it is lower. */
  readonly streams: number
}

export interface ApnsAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Sends requests over one connection. Requests beyond the stream limit wait. */
export interface ApnsSession {
  /**
   * Sends a request. Throws `Unreachable` if no connection is available; any other error concerns only this request.
   */
  request(headers: OutgoingHttpHeaders, body: string): Promise<ApnsAnswer>
  close(): void
}

/** Thrown if no connection is available. */
export class Unreachable extends Error {
  override name = 'Unreachable'
}

/** Maximum response body in characters; the rest is ignored. Apple's responses have about 100. */
const MAX_BODY = 4096

/**
 * A refused stream was not processed (RFC 9113, 8.7), so the request is safe to retry over a new connection, up to this
 * number of connections.
 */
const MAX_CONNECTIONS = 3

/** An idle connection does not reveal that it is lost, so it is pinged at this interval. */
const PING_MS = 60_000

export function openSession({ url, tls, timeoutMs, streams }: ApnsSessionOptions): ApnsSession {
  const waiting: (() => void)[] = []
  let current: Promise<ClientHttp2Session> | undefined
  let ready: ClientHttp2Session | undefined
  let underWay = 0
  let closed = false

  const room = () => Math.min(streams, ready?.remoteSettings?.maxConcurrentStreams ?? streams)
  const admit = () => {
    while (waiting.length > 0 && underWay < room()) {
      underWay += 1
      waiting.shift()!()
    }
  }
  /** The next request opens a new connection. Requests in progress finish on this one. */
  const leave = (opened: Promise<ClientHttp2Session> | undefined) => {
    if (current !== opened) return
    current = undefined
    ready = undefined
  }
  const dial = (): Promise<ClientHttp2Session> => {
    const opened = new Promise<ClientHttp2Session>((resolve, reject) => {
      const session = connect(url, { ...tls, minVersion: 'TLSv1.2', rejectUnauthorized: true })
      const late = setTimeout(() => session.destroy(new Error('no connection in time')), timeoutMs)
      let failure: Error | undefined
      session.on('error', (error) => {
        failure = error
      })
      // Before the server's settings arrive, the number of streams that it accepts is unknown.
      session.once('remoteSettings', () => {
        clearTimeout(late)
        if (current === opened) ready = session
        resolve(session)
      })
      session.on('remoteSettings', admit)
      session.on('goaway', () => leave(opened))
      session.once('close', () => {
        clearTimeout(late)
        leave(opened)
        reject(
          new Unreachable(`${url}: ${failure?.message ?? 'the connection was closed'}`, { cause: failure }),
        )
      })
      const ping = setInterval(() => {
        if (!session.closed) session.ping((error) => error && session.destroy(error))
      }, PING_MS).unref()
      session.once('close', () => clearInterval(ping))
    })
    return opened
  }
  const reach = (): Promise<ClientHttp2Session> => {
    current ??= dial()
    return current
  }

  const exchange = (session: ClientHttp2Session, headers: OutgoingHttpHeaders, body: string) =>
    new Promise<ApnsAnswer | 'refused'>((resolve, reject) => {
      const over = current
      const stream = session.request(headers)
      const late = setTimeout(() => {
        // The connection itself may be dead, so the next request opens a new one.
        leave(over)
        session.close()
        stream.destroy(new Error(`no answer in ${timeoutMs} ms`))
      }, timeoutMs)
      let answer: IncomingHttpHeaders | undefined
      let text = ''
      stream.setEncoding('utf8')
      stream.on('response', (given) => {
        answer = given
      })
      stream.on('data', (chunk: string) => {
        text = (text + chunk).slice(0, MAX_BODY)
      })
      let failure: Error | undefined
      stream.on('error', (error) => {
        failure = error
      })
      stream.on('close', () => {
        clearTimeout(late)
        if (answer && !failure && stream.rstCode === 0) {
          resolve({ status: Number(answer[':status']), headers: answer, body: text })
        } else if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) {
          leave(over)
          resolve('refused')
        } else reject(failure ?? new Error(`the stream ended with code ${stream.rstCode}`))
      })
      stream.end(body)
    })

  return {
    async request(headers, body) {
      if (closed) throw new Unreachable('closed')
      await reach() // after this, the stream limit is known
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        admit()
      })
      try {
        // While this request waited, the connection may have been replaced.
        for (let count = 0; count < MAX_CONNECTIONS; count += 1) {
          const answer = await exchange(await reach(), headers, body)
          if (answer !== 'refused') return answer
        }
        throw new Unreachable(`${url} refuses all requests`)
      } finally {
        underWay -= 1
        admit()
      }
    },
    close() {
      closed = true
      void current?.then(
        (session) => session.destroy(),
        () => {},
      )
    },
  }
}
