import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { answerText } from './answer-text.ts'
import type { Deadline } from './deadline.ts'
import type { Destination } from './destination.ts'
import { type Failure, failureOf, lateIn, type Phase } from './failures.ts'
import type { Pools } from './pools.ts'

/** What is sent, ready for the wire: names and values of headers in turn. */
export interface Message {
  readonly headers: readonly string[]
  readonly body: string
}

export interface Exchange {
  readonly pools: Pools
  readonly destination: Destination
  /** One that was judged. Nothing else is dialled. */
  readonly address: string
  readonly message: Message
  readonly deadline: Deadline
  /** Milliseconds for the connection alone, where another address could be tried. */
  readonly connectMs: number | undefined
}

/** What came of an exchange. */
export type Ending =
  | { readonly status: number; readonly body: string }
  | (Failure & {
      /** Whether to try again, since nothing came of it: on a `fresh` connection, or with another address (`elsewhere`). */
      readonly again: 'fresh' | 'elsewhere' | undefined
    })

/** Bytes of an answer's body after which the connection is closed; the status counts. */
const MOST_BODY_BYTES = 65_536

/** Of one header block, Node's own limit made independent of its switches. */
const MOST_HEADER_BYTES = 16_384

/** Interim answers (RFC 9110 §15.2), none of which says anything to us. */
const MOST_INTERIM = 16

/** Never called: what is dialled is an address. Should that ever change, nothing goes out unjudged. */
function refuseLookup(name: string): never {
  throw new Error(`${name} is looked up behind the back of the judgement`)
}

/** Collects the answer up to the limit; `done` is called once, if the answer ends at all. */
function readAnswer(answer: IncomingMessage, done: (cut: boolean, body: string) => void): void {
  const chunks: Buffer[] = []
  let read = 0
  answer.on('data', (chunk: Buffer) => {
    if (read >= MOST_BODY_BYTES) return
    chunks.push(chunk)
    read += chunk.length
    if (read >= MOST_BODY_BYTES) done(true, answerText(chunks))
  })
  answer.once('end', () => {
    if (read < MOST_BODY_BYTES) done(false, answerText(chunks))
  })
}

/**
 * One request and its answer with one address. Settles when the body of the answer has ended or is cut, when the exchange fails,
 * or when the deadline stops it. Rejects only where the headers cannot be sent at all, which is the caller's mistake.
 */
export function exchange(work: Exchange): Promise<Ending> {
  const { pools, destination, address, message, deadline, connectMs } = work
  return new Promise((resolve) => {
    let phase: Phase = 'connecting'
    let settled = false
    let interim = 0
    let connecting: NodeJS.Timeout | undefined

    const settle = (ending: Ending, close: boolean) => {
      if (settled) return
      settled = true
      clearTimeout(connecting)
      resolve(ending)
      if (close) request.destroy()
    }
    const fail = (failure: Failure, again?: 'fresh' | 'elsewhere') => settle({ ...failure, again }, true)
    const failWith = (error: Error) => {
      const failure = failureOf(error, phase)
      // A connection that the other end gave up while it lay idle; the request may well not have been seen.
      const stale = request.reusedSocket && failure.kind === 'connection' && interim === 0
      fail(failure, stale ? 'fresh' : phase === 'connecting' ? 'elsewhere' : undefined)
    }
    const follow = (socket: Socket) => {
      if (request.reusedSocket) {
        phase = 'waiting'
        return
      }
      socket.once('connect', () => {
        phase = destination.secure ? 'handshake' : 'waiting'
        clearTimeout(connecting)
      })
      if (destination.secure) {
        socket.once('secureConnect', () => {
          phase = 'waiting'
        })
      }
      if (connectMs !== undefined) {
        connecting = setTimeout(() => fail(lateIn('connecting'), 'elsewhere'), connectMs)
      }
    }

    const request = (destination.secure ? https : http).request({
      method: 'POST',
      host: address,
      port: destination.port,
      path: destination.path,
      servername: destination.name,
      agent: destination.secure ? pools.https : pools.http,
      headers: message.headers,
      setHost: false,
      maxHeaderSize: MOST_HEADER_BYTES,
      insecureHTTPParser: false,
      lookup: refuseLookup,
    })
    request.once('socket', follow)
    request.on('information', () => {
      interim += 1
      if (interim > MOST_INTERIM) fail({ kind: 'response', error: 'interim answers came without end' })
    })
    request.once('response', (answer) => {
      phase = 'reading'
      answer.once('error', failWith)
      readAnswer(answer, (cut, body) => settle({ status: answer.statusCode ?? 0, body }, cut))
    })
    request.on('error', failWith) // stays: destroyed requests tell of it once more
    request.once('close', () => {
      // Without an error too, as after an upgrade that nobody asked for. An answer that began tells its end itself.
      if (phase !== 'reading') fail({ kind: 'response', error: 'what came back is no answer to a POST' })
    })
    deadline.stopWith(() => fail(lateIn(phase)))
    if (!settled) request.end(message.body)
  })
}
