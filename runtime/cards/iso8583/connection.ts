/** One connection of a network: reads messages, and answers each as soon as its decision is ready. */
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import type { Environment } from '../../platform/environment.ts'
import type { Network } from '../network/network.ts'
import { DECISION_SHARE } from '../processor/in-time.ts'
import { outcomeOf } from '../processor/message-routes.ts'
import type { NetworkCounter } from '../processor/tally.ts'
import { answerWith, isRequest, writeAnswer } from './answers.ts'
import { decodeMessage, IsoFormatError } from './codec/decode.ts'
import type { Dialect } from './codec/dialect.ts'
import { encodeMessage } from './codec/encode.ts'
import { type IsoMessage, valueAt } from './codec/message.ts'
import { createFrameReader, writeFrame } from './frames.ts'
import { IsoRefusal } from './refusal.ts'
import { type IsoRequest, readRequest } from './requests.ts'
import { RESPONSE } from './response-codes.ts'

export interface IsoConnectionParts {
  readonly dialect: Dialect
  /** Answers in time (`answerInTime`). */
  readonly network: Network
  readonly counter: Pick<NetworkCounter, 'entered' | 'answered' | 'refuse' | 'left'>
  /** Time in which a message is answered, in milliseconds. */
  readonly deadlineMs: number
  readonly limits: IsoLimits
  /** Machine time in milliseconds since the epoch. */
  readonly now: () => number
  readonly log: Logger
}

export interface IsoLimits {
  /** Time without any bytes after which a connection is closed. Networks send an echo test more often. */
  readonly idleMs: number
  /** Time in which a message that has started must be complete. */
  readonly messageMs: number
  /** Messages in progress above which the connection is not read. */
  readonly mostInProgress: number
}

export const ISO_LIMITS: IsoLimits = { idleMs: 300_000, messageMs: 10_000, mostInProgress: 256 }

/** The parts of a TLS or TCP socket that a connection uses. */
export interface IsoSocket extends Duplex {
  setNoDelay(on: boolean): unknown
  setTimeout(milliseconds: number, onTimeout: () => void): unknown
}

export interface IsoConnection {
  /** Reads no more messages, and closes the connection when all in progress have an answer. */
  drain(): void
}

/**
 * Serves a connection until one side closes it.
 *
 * @param environmentOf returns the environment that the client may use now; undefined closes the connection.
 */
export function serveConnection(
  socket: IsoSocket,
  environmentOf: () => Environment | undefined,
  parts: IsoConnectionParts,
): IsoConnection {
  const { dialect, counter, limits, log } = parts
  const frames = createFrameReader(dialect.frame)
  let inProgress = 0
  let isDraining = false
  let slow: NodeJS.Timeout | undefined

  const close = (reason: string, facts: object = {}) => {
    log.warn({ ...facts, reason }, 'ISO 8583 connection closed')
    socket.destroy()
  }
  const isOpen = () => !socket.destroyed && !isDraining

  /** Takes whole messages while there is room, and stops reading otherwise. */
  function advance(): void {
    clearTimeout(slow)
    slow = undefined
    try {
      while (isOpen() && !socket.writableNeedDrain && inProgress < limits.mostInProgress) {
        const bytes = frames.next()
        if (!bytes) {
          if (frames.isPartial())
            slow = setTimeout(() => close('a message did not arrive in time'), limits.messageMs)
          socket.resume()
          return
        }
        start(bytes)
      }
    } catch (err) {
      counter.refuse('invalid_frame')
      close('the bytes are not messages with a length', { err })
    }
    socket.pause()
    if (!isDraining || inProgress > 0) return
    socket.end()
    socket.resume() // what still arrives is discarded, so that the end of the other side is read
  }

  function start(bytes: Buffer): void {
    const environment = environmentOf()
    if (!environment) {
      counter.refuse('unknown_certificate')
      close('the client certificate is no longer accepted')
      return
    }
    inProgress += 1
    counter.entered()
    respond(bytes, environment)
      .catch((err: unknown) => log.error({ err }, 'ISO 8583 message failed'))
      .finally(() => {
        inProgress -= 1
        counter.left()
        advance()
      })
  }

  async function respond(bytes: Buffer, environment: Environment): Promise<void> {
    const beganAt = performance.now()
    const message = read(bytes)
    if (!message) return
    const facts = { environment, mti: message.mti, stan: valueAt(message, '11') }
    if (!isRequest(message)) {
      log.debug(facts, 'ISO 8583 answer ignored: this service sends no requests')
      return
    }
    try {
      const request = readRequest(dialect, message, parts.now())
      send(
        request
          ? await decide(message, request, environment, beganAt)
          : answerWith(message, RESPONSE.approved),
      )
    } catch (error) {
      if (!(error instanceof IsoRefusal)) throw error
      counter.refuse('invalid_message')
      log.info({ ...facts, issue: error.message, code: error.responseCode }, 'ISO 8583 message refused')
      send(answerWith(message, error.responseCode))
    }
  }

  /** Decodes a message. A malformed one is refused, if enough of it can be read for an answer. */
  function read(bytes: Buffer): IsoMessage | undefined {
    try {
      return decodeMessage(dialect, bytes)
    } catch (error) {
      if (!(error instanceof IsoFormatError)) throw error
      counter.refuse('malformed_message')
      log.warn({ issue: error.message }, 'malformed ISO 8583 message')
      const { decoded } = error
      if (decoded && isRequest(decoded) && decoded.fields.has(11))
        send(answerWith(decoded, RESPONSE.malformed))
      return undefined
    }
  }

  async function decide(
    message: IsoMessage,
    request: IsoRequest,
    environment: Environment,
    beganAt: number,
  ): Promise<IsoMessage> {
    const deadline = beganAt + parts.deadlineMs * DECISION_SHARE
    const answer = await parts.network.exchange(environment, request.kind, request.message, deadline)
    counter.answered(environment, request.kind, outcomeOf(answer), performance.now() - beganAt)
    return writeAnswer(message, request, answer)
  }

  function send(message: IsoMessage): void {
    // If the socket is closed, the network repeats its message on a new connection.
    if (socket.writable) socket.write(writeFrame(dialect.frame, encodeMessage(dialect, message)))
  }

  socket.setNoDelay(true)
  socket.setTimeout(limits.idleMs, () => close('no bytes arrived'))
  socket.on('data', (chunk: Buffer) => {
    if (isDraining) return
    frames.push(chunk)
    advance()
  })
  socket.on('drain', advance)
  socket.on('error', (err) => log.debug({ err }, 'ISO 8583 connection failed'))
  socket.on('close', () => clearTimeout(slow))
  return {
    drain() {
      isDraining = true
      advance()
    },
  }
}
