/** The other side of a connection: a card network that sends ISO 8583 messages. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { decodeMessage } from '../../../runtime/cards/iso8583/codec/decode.ts'
import type { Dialect } from '../../../runtime/cards/iso8583/codec/dialect.ts'
import { encodeMessage } from '../../../runtime/cards/iso8583/codec/encode.ts'
import { type IsoMessage, valueAt } from '../../../runtime/cards/iso8583/codec/message.ts'
import { createFrameReader, writeFrame } from '../../../runtime/cards/iso8583/frames.ts'

export interface Peer {
  readonly socket: Socket
  /** Trace numbers of the answers, in the order of arrival. */
  readonly answered: string[]
  frame(message: IsoMessage): Buffer
  /** Sends a message, and resolves with the answer that has its trace number. */
  ask(message: IsoMessage): Promise<IsoMessage>
  /** Resolves with the answer of a trace number. */
  answerOf(stan: string): Promise<IsoMessage>
  /** Resolves when the service has closed the connection. */
  readonly closed: Promise<unknown>
}

export function createPeer(socket: Socket, dialect: Dialect): Peer {
  const frames = createFrameReader(dialect.frame)
  const answered: string[] = []
  const waiting = new Map<string, PromiseWithResolvers<IsoMessage>>()
  const expectation = (stan: string) => {
    const known = waiting.get(stan) ?? Promise.withResolvers<IsoMessage>()
    waiting.set(stan, known)
    return known
  }
  socket.on('data', (chunk: Buffer) => {
    frames.push(chunk)
    for (let bytes = frames.next(); bytes; bytes = frames.next()) {
      const message = decodeMessage(dialect, bytes)
      const stan = valueAt(message, '11') ?? ''
      answered.push(stan)
      expectation(stan).resolve(message)
    }
  })
  const frame = (message: IsoMessage) => writeFrame(dialect.frame, encodeMessage(dialect, message))
  const answerOf = (stan: string) => expectation(stan).promise
  return {
    socket,
    answered,
    frame,
    answerOf,
    ask(message) {
      socket.write(frame(message))
      return answerOf(valueAt(message, '11') ?? '')
    },
    closed: once(socket, 'close'),
  }
}
