import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** One answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the request, and tests assert it
  readonly body: any
}

/** What came back on one connection. */
export interface WireTalk {
  readonly answers: readonly WireAnswer[]
  /** Whether the other side closed the connection, and after how many milliseconds. */
  readonly closed: boolean
  readonly ms: number
  /** What was no answer. */
  readonly rest: string
}

export interface WireOptions {
  /** Ends the talk when so many answers are there. */
  readonly answers?: number
  /** Called with the open socket after the first bytes were sent. */
  readonly afterwards?: (socket: Socket) => void | Promise<void>
}

/** A talk that nobody ends is a failure of the test, on a slow machine too. */
const GIVE_UP_MS = 20_000

/** Cuts what came into answers; each has a Content-Length, or no body. */
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

/** Sends bytes as they are and gives what came back until the other side closed, enough was answered, or time is up. */
export async function talk(
  url: string,
  bytes: string | Uint8Array,
  options: WireOptions = {},
): Promise<WireTalk> {
  const { answers: wanted = 1 } = options
  const { hostname, port } = new URL(url)
  const began = performance.now()
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}) // `close` follows
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
    Promise.resolve(options.afterwards?.(socket)).catch(() => {}) // the socket is gone, which the talk tells
  })
}
