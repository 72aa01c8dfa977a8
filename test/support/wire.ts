import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** One response as received. */
export interface WireAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the request, and tests assert it
  readonly body: any
}

/** Everything received on one connection. */
export interface WireTalk {
  readonly answers: readonly WireAnswer[]
  /** Whether the server closed the connection. `ms` is the duration of the exchange. */
  readonly closed: boolean
  readonly ms: number
  /** Received text that is not a complete response. */
  readonly rest: string
}

export interface WireOptions {
  /** Number of responses after which the exchange ends. Default: 1. */
  readonly answers?: number
  /** Called with the open socket after the first bytes were sent. */
  readonly afterwards?: (socket: Socket) => void | Promise<void>
}

/** Time limit of an exchange. Reaching it means that the test fails, even on a slow machine. */
const GIVE_UP_MS = 20_000

/** Splits received text into responses. Each has a Content-Length or no body. */
function readAnswers(text: string): { answers: WireAnswer[]; rest: string } {
  const answers: WireAnswer[] = []
  let rest = text
  for (;;) {
    const end = rest.indexOf('\r\n\r\n')
    const [, status] = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n/.exec(rest) ?? []
    if (end < 0 || status === undefined) return { answers, rest }
    const lines = rest.slice(0, end).split('\r\n').slice(1)
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const length = Number(headers.get('content-length') ?? 0)
    const body = rest.slice(end + 4, end + 4 + length)
    if (body.length < length) return { answers, rest }
    rest = rest.slice(end + 4 + length)
    const isJson = headers.get('content-type')?.startsWith('application/json')
    answers.push({ status: Number(status), headers, text: body, body: isJson ? JSON.parse(body) : undefined })
  }
}

/**
 * Sends bytes unchanged. Returns what was received until the server closed the connection, enough responses arrived or
 * the time limit was reached.
 */
export async function talk(
  url: string,
  bytes: string | Uint8Array,
  options: WireOptions = {},
): Promise<WireTalk> {
  const { answers: wanted = 1 } = options
  const { hostname, port } = new URL(url)
  const began = performance.now()
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}) // the `close` event follows and is handled
  let text = ''
  await once(socket, 'connect')
  return new Promise((resolve) => {
    const finish = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ ...readAnswers(text), closed, ms: performance.now() - began })
    }
    const timer = setTimeout(finish, GIVE_UP_MS, false)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (readAnswers(text).answers.length >= wanted) finish(false)
    })
    socket.once('close', () => finish(true))
    socket.write(bytes)
    Promise.resolve(options.afterwards?.(socket)).catch(() => {}) // the socket is closed, which the result shows
  })
}
