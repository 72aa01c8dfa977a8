/** One connection of a network, on a real socket: order, halves, floods, time limits and the end. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { Duplex } from 'node:stream'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { encodeMessage } from '../../../runtime/cards/iso8583/codec/encode.ts'
import type { IsoMessage } from '../../../runtime/cards/iso8583/codec/message.ts'
import {
  ISO_LIMITS,
  type IsoConnection,
  type IsoLimits,
  serveConnection,
} from '../../../runtime/cards/iso8583/connection.ts'
import { writeFrame } from '../../../runtime/cards/iso8583/frames.ts'
import type { Network } from '../../../runtime/cards/network/network.ts'
import { answerInTime } from '../../../runtime/cards/processor/in-time.ts'
import { createNetworkCounter, type NetworkCounter } from '../../../runtime/cards/processor/tally.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import { createPeer, type Peer } from './peer.ts'
import { CARD, DIALECT_NAMES, dialectOf, NOW, purchase, recordingNetwork } from './samples.ts'

type Name = (typeof DIALECT_NAMES)[number]

let server: Server | undefined
let connection: IsoConnection
let environment: Environment | undefined
let counter: NetworkCounter
let lines: string[]
const peers: Peer[] = []

beforeEach(() => {
  environment = 'live'
  lines = []
  counter = createNetworkCounter()
})
afterEach(() => {
  for (const { socket } of peers.splice(0)) socket.destroy()
  server?.close()
  server = undefined
})

const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })

/** Opens a connection to a server with the given network and limits. */
async function open(
  name: Name,
  network: Network = recordingNetwork(),
  limits: Partial<IsoLimits> = {},
): Promise<Peer> {
  const opened = createServer((socket) => {
    connection = serveConnection(socket, () => environment, {
      dialect: dialectOf(name),
      ...{ network, counter, log, deadlineMs: 1000, limits: { ...ISO_LIMITS, ...limits }, now: () => NOW },
    })
  }).listen(0, '127.0.0.1')
  server = opened
  await once(opened, 'listening')
  const socket = connect((opened.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  const peer = createPeer(socket, dialectOf(name))
  peers.push(peer)
  return peer
}

/** A network whose answers wait until the test releases them, by the trace number in the message's identifier. */
function heldNetwork() {
  const held = new Map<string, () => void>()
  let arrived = Promise.withResolvers<void>()
  const network: Network = {
    async exchange(...call) {
      const stan = call[2].message_id.split('-')[2] ?? ''
      const { promise, resolve } = Promise.withResolvers<void>()
      held.set(stan, resolve)
      arrived.resolve()
      arrived = Promise.withResolvers()
      await promise
      return recordingNetwork().exchange(...call)
    },
  }
  return {
    network,
    held,
    release: (stan: string) => held.get(stan)?.(),
    async until(count: number) {
      while (held.size < count) await arrived.promise
    },
  }
}

const numbered = (name: Name, stan: string) => purchase(name, { 11: stan })
const management = (code: string, stan = '000001'): IsoMessage => ({
  mti: '0800',
  fields: new Map([
    [7, '0601120000'],
    [11, stan],
    [70, code],
  ]),
})

describe.each(DIALECT_NAMES)('%s', (name) => {
  test('many messages are in progress at once, and each is answered when its decision is ready', async () => {
    const { network, release, until } = heldNetwork()
    const peer = await open(name, network)
    const stans = ['000001', '000002', '000003', '000004']
    peer.socket.write(Buffer.concat(stans.map((stan) => peer.frame(numbered(name, stan)))))
    await until(4)
    for (const stan of stans.toReversed()) {
      release(stan)
      expect((await peer.answerOf(stan)).fields.get(39)).toBe('00')
    }
    expect(peer.answered).toEqual(stans.toReversed())
  })

  test('a message may arrive byte by byte, and after empty frames', async () => {
    const peer = await open(name)
    peer.socket.setNoDelay(true)
    const empty = name === 'ascii' ? Buffer.from('0000') : Buffer.alloc(2)
    for (const byte of Buffer.concat([empty, peer.frame(numbered(name, '000007')), empty])) {
      peer.socket.write(Buffer.of(byte))
      await new Promise(setImmediate)
    }
    expect((await peer.answerOf('000007')).mti).toBe('0110')
  })

  test('a malformed message is refused with 30, and the next one is answered', async () => {
    const peer = await open(name)
    const whole = peer.frame(numbered(name, '000008'))
    const broken = Buffer.from(whole)
    broken.writeUInt8(0x2a, whole.length - (name === 'ascii' ? 14 : 18)) // field 49
    peer.socket.write(broken)
    const answer = await peer.answerOf('000008')
    expect([answer.mti, answer.fields.get(39)]).toEqual(['0110', '30'])
    expect((await peer.ask(numbered(name, '000009'))).fields.get(39)).toBe('00')
    const logged = lines.join('')
    expect(logged).toContain('malformed ISO 8583 message')
    expect(logged).toContain('card 400000******7899')
    expect(logged).not.toContain(CARD)
    expect(counter.refused.get('malformed_message')).toBe(1)
  })

  test('bytes without a valid length close the connection before they are kept', async () => {
    const peer = await open(name)
    peer.socket.write(Buffer.alloc(10, 0xff))
    await peer.closed
    expect(lines.join('')).toContain('expected a length of at most 8192')
    expect(counter.refused.get('invalid_frame')).toBe(1)
  })

  test('sign-on, echo and sign-off are answered; an exchange of keys is refused', async () => {
    const peer = await open(name)
    for (const [code, answer] of [
      ['001', '00'],
      ['301', '00'],
      ['002', '00'],
      ['161', '12'],
    ] as const) {
      const { mti, fields } = await peer.ask(management(code, `000${code}`))
      expect([mti, fields.get(70), fields.get(39)]).toEqual(['0810', code, answer])
    }
  })
})

test('an echo says that the service cannot decide', async () => {
  const peer = await open('bcd', recordingNetwork({ outcome: 'unavailable' }))
  expect((await peer.ask(management('301'))).fields.get(39)).toBe('91')
})

test('a failure inside the service lets the network decide', async () => {
  const failing: Network = { exchange: () => Promise.reject(new Error('out of order')) }
  const inTime = { counter, deadlineMs: 2000, mostRequests: 100, overloaded: () => undefined, log }
  const peer = await open('ascii', answerInTime(failing, inTime))
  expect((await peer.ask(purchase('ascii'))).fields.get(39)).toBe('91')
  expect(lines.join('')).toContain('out of order')
  expect(counter.unavailable.get('failed')).toBe(1)
})

test('a connection with too many messages in progress is read later', async () => {
  const { network, held, release, until } = heldNetwork()
  const peer = await open('ascii', network, { mostInProgress: 2 })
  for (const stan of ['000001', '000002', '000003']) peer.socket.write(peer.frame(numbered('ascii', stan)))
  await until(2)
  expect([...held.keys()]).toEqual(['000001', '000002'])
  release('000001')
  await until(3)
  release('000002')
  release('000003')
  await peer.answerOf('000003')
})

test('a peer that does not read its answers is not read either, and gets all of them later', async () => {
  const dialect = dialectOf('bcd')
  const written: (() => void)[] = []
  const answered: Buffer[] = []
  const stream = new Duplex({
    highWaterMark: 200,
    read() {},
    write(chunk: Buffer, _encoding, done) {
      answered.push(chunk)
      written.push(done)
    },
  })
  const socket = Object.assign(stream, { setNoDelay: () => stream, setTimeout: () => stream })
  const network = recordingNetwork()
  serveConnection(socket, () => 'live', {
    ...{ dialect, network, counter, log: pino({ level: 'silent' }) },
    ...{ deadlineMs: 1000, limits: ISO_LIMITS, now: () => NOW },
  })
  const frame = writeFrame(dialect.frame, encodeMessage(dialect, purchase('bcd')))
  for (let count = 0; count < 1000; count++) socket.push(frame)
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  expect(network.calls.length).toBeLessThanOrEqual(ISO_LIMITS.mostInProgress)
  while (answered.length < 1000) {
    written.shift()?.()
    await new Promise(setImmediate)
  }
  expect(network.calls.length).toBe(1000)
})

test('an idle connection and a message that does not end are closed', async () => {
  const idle = await open('ascii', recordingNetwork(), { idleMs: 20 })
  await idle.closed
  expect(lines.join('')).toContain('no bytes arrived')
  server?.close()
  const slow = await open('ascii', recordingNetwork(), { messageMs: 20 })
  slow.socket.write(slow.frame(purchase('ascii')).subarray(0, 30))
  await slow.closed
  expect(lines.join('')).toContain('a message did not arrive in time')
})

test('a drain answers what is in progress, reads no more, and closes', async () => {
  const { network, held, release, until } = heldNetwork()
  const peer = await open('ascii', network)
  peer.socket.write(peer.frame(numbered('ascii', '000001')))
  await until(1)
  connection.drain()
  peer.socket.write(peer.frame(numbered('ascii', '000002')))
  release('000001')
  expect((await peer.answerOf('000001')).fields.get(39)).toBe('00')
  await peer.closed
  expect(held.has('000002')).toBe(false)
})

test('a client whose certificate is retired gets no more answers', async () => {
  const peer = await open('ascii')
  await peer.ask(numbered('ascii', '000001'))
  environment = undefined
  peer.socket.write(peer.frame(numbered('ascii', '000002')))
  await peer.closed
  expect(peer.answered).toEqual(['000001'])
})
