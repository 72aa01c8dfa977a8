/** One HTTP/2 connection, kept and opened anew when it is lost. */
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2'

export interface ApnsSessionOptions {
  /** An origin; `http:` for a server without TLS, which is for development. */
  readonly url: string
  readonly tls?: Pick<SecureClientSessionOptions, 'ca' | 'cert' | 'key' | 'passphrase'>
  /** From the request to the end of its answer. */
  readonly timeoutMs: number
  /** Requests under way at once; fewer where the server wants it so. */
  readonly streams: number
}

export interface ApnsAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Requests over one connection; those that find it full wait for their turn. */
export interface ApnsSession {
  /** Throws `Unreachable` where no connection can be had, any other error where this one request failed. */
  request(headers: OutgoingHttpHeaders, body: string): Promise<ApnsAnswer>
  close(): void
}

/** There is no connection to send anything over. */
export class Unreachable extends Error {
  override name = 'Unreachable'
}

/** More of an answer is not read: Apple's are a hundred bytes. */
const MAX_BODY = 4096

/** A request that a connection refuses was not looked at (RFC 9113, 8.7): it goes over another one, at most so often. */
const MAX_CONNECTIONS = 3

/** A connection that is not used says nothing: it is asked whether it is still there. */
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
  /** What comes next gets another connection; what is under way on this one may end. */
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
      // The server's settings say how many streams it takes: before that there is room for none.
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
        // It may be the connection that says nothing: what comes next gets another one.
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
      await reach() // says how many requests it takes at once
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        admit()
      })
      try {
        // Whoever waited may find another connection than before.
        for (let count = 0; count < MAX_CONNECTIONS; count += 1) {
          const answer = await exchange(await reach(), headers, body)
          if (answer !== 'refused') return answer
        }
        throw new Unreachable(`${url} takes no requests`)
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
