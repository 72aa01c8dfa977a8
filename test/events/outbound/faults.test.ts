/** What the other end can do to one POST, over real sockets. Each ends in an outcome, in time, and leaves no connection. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  createOutbound,
  type Outbound,
  type OutboundOptions,
} from '../../../runtime/events/outbound/outbound.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { until } from '../../support/programs.ts'
import { closeSinks, openScript, openSink, openWire, type Sink } from './sinks.ts'

/** Where the test is about it. */
const DEADLINE_MS = 500

let outbound: Outbound

/** With its own deadline of 10 s, unless the test is about that. */
function openOutbound(options: Pick<OutboundOptions, 'deadlineMs'> = {}): Outbound {
  return createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.0/8']), ...options })
}

beforeEach(() => {
  outbound = openOutbound()
})

afterEach(async () => {
  outbound.close()
  await closeSinks()
})

const post = ({ port }: Pick<Sink, 'port'>) =>
  outbound.post({
    url: `http://127.0.0.1:${port}/hooks`,
    headers: { 'Content-Type': 'application/json', 'Service-Event-Id': 'evt_1' },
    body: '{"emoji":"☕"}',
  })

/** Nothing is left open where the exchange was not carried to its end. */
async function expectClosed(sink: Sink): Promise<void> {
  await until('the connections to close', () => sink.connections.every((socket) => socket.destroyed))
}

async function expectLate(sink: Sink, error: string): Promise<void> {
  const outcome = await post(sink)
  expect(outcome).toMatchObject({ kind: 'timeout', error })
  expect(outcome.durationMs).toBeGreaterThanOrEqual(DEADLINE_MS - 5)
  await expectClosed(sink)
}

/** Writes the bytes again and again, so often and as long as the other end takes them. */
function drip(socket: Socket, bytes: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(bytes), everyMs)
  socket.once('close', () => clearInterval(timer))
}

test('a POST is sent whole, with the headers of its message', async () => {
  const sink = await openSink({ answer: (_request, response) => response.end('thanks') })
  expect(await post(sink)).toEqual({ status: 200, body: 'thanks', durationMs: expect.any(Number) })
  expect(sink.requests[0]).toMatchObject({ method: 'POST', url: '/hooks', httpVersion: '1.1' })
  expect(sink.requests[0]!.headers).toEqual({
    host: `127.0.0.1:${sink.port}`,
    'user-agent': 'svc-webhooks/1',
    'accept-encoding': 'identity',
    'content-length': '15',
    'content-type': 'application/json',
    'service-event-id': 'evt_1',
    connection: 'keep-alive',
  })
})

describe('the other end hangs', () => {
  beforeEach(() => {
    outbound.close()
    outbound = openOutbound({ deadlineMs: DEADLINE_MS })
  })

  test('a POST ends in time when the receiver hangs before it takes the connection', async () => {
    const program = `const server = require('node:net').createServer()
      server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port))`
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
    const fillers: Socket[] = []
    try {
      const port = Number(String(await once(child.stdout, 'data')))
      child.kill('SIGSTOP')
      // The queue of connections that nobody takes is full when one of them stays without an answer.
      await until('the queue to be full', () => {
        fillers.push(connect(port, '127.0.0.1'))
        return fillers.filter((socket) => socket.connecting).length > 20
      })
      const outcome = await post({ port })
      expect(outcome).toMatchObject({ kind: 'timeout', error: 'the connection was not established in time' })
    } finally {
      for (const socket of fillers) socket.on('error', () => {}).destroy()
      child.kill('SIGKILL')
    }
  })

  test('a POST ends in time when the receiver hangs before its answer', async () => {
    await expectLate(await openWire(() => {}), 'the server did not respond in time')
  })

  test('a POST ends in time when the receiver hangs in its headers', async () => {
    const sink = await openWire((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      drip(socket, 'X-More: 1\r\n', 50)
    })
    await expectLate(sink, 'the server did not respond in time')
  })

  test('a POST ends in time when the receiver sends a byte of its body now and then', async () => {
    const sink = await openScript((_request, socket) => {
      drip(socket, '.', 50)
      return 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n'
    })
    await expectLate(sink, 'the response was not complete in time')
  })

  test('a POST ends in time when the receiver sends only interim answers', async () => {
    const sink = await openWire((socket) => drip(socket, 'HTTP/1.1 103 Early WakeUps\r\n\r\n', 100))
    await expectLate(sink, 'the server did not respond in time')
  })
})

test('an answer may take longer than a connection may lie idle', async () => {
  const sink = await openSink({
    answer: (_request, response) => void setTimeout(() => response.end('late'), 4500),
  })
  expect(await post(sink)).toMatchObject({ status: 200, body: 'late' })
})

describe('the other end says too much', () => {
  test('256 MB of body: 64 KiB are read, and the status counts', async () => {
    const whole = 256 * 1024 * 1024
    let sent = 0
    const piece = Buffer.alloc(65_536, 'x')
    const sink = await openSink({
      answer: (_request, response) => {
        response.writeHead(200, { 'Content-Length': whole })
        const push = () => {
          while (sent < whole && !response.destroyed) {
            sent += piece.length
            if (!response.write(piece)) return
          }
        }
        response.on('drain', push)
        push()
      },
    })
    expect(await post(sink)).toMatchObject({ status: 200, body: 'x'.repeat(4096) })
    await expectClosed(sink)
    expect(sent).toBeLessThan(whole / 8) // what the buffers of two kernels hold
  })

  test('a gzip bomb is not opened', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024))
    const sink = await openSink({
      answer: (_request, response) => response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(bomb),
    })
    const outcome = await post(sink)
    expect(outcome).toMatchObject({ status: 200 })
    expect('body' in outcome && outcome.body.length).toBeLessThanOrEqual(4096)
  })

  test('a POST ends in time after 1 MB of headers, in one and in many', async () => {
    const error = 'the response headers are too long'
    for (const headers of [`X-Long: ${'x'.repeat(1e6)}\r\n`, 'X-Many: 12345678\r\n'.repeat(55_000)]) {
      const sink = await openScript(() => `HTTP/1.1 200 OK\r\n${headers}\r\n`)
      expect(await post(sink)).toMatchObject({ kind: 'response', error })
      await expectClosed(sink)
    }
  })

  test('interim answers without end', async () => {
    const sink = await openScript(() => 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(10_000))
    const outcome = await post(sink)
    expect(outcome).toMatchObject({ kind: 'response', error: 'the server sent too many interim responses' })
    await expectClosed(sink)
  })

  test('a few interim answers are passed over', async () => {
    const few = 'HTTP/1.1 103 Early WakeUps\r\nLink: </x>\r\n\r\n'.repeat(3)
    const sink = await openScript(() => `${few}HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n`)
    expect(await post(sink)).toMatchObject({ status: 201, body: '' })
  })
})

describe('the other end is no HTTP server, or a bad one', () => {
  const NOT_HTTP = 'the response is not HTTP'
  const answers: readonly (readonly [what: string, bytes: string, error: string])[] = [
    ['a greeting of another protocol', 'SSH-2.0-OpenSSH_9.6\r\n', NOT_HTTP],
    ['an answer without a status line', '<html>hello</html>', NOT_HTTP],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', NOT_HTTP],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      NOT_HTTP,
    ],
    ['a chunk that is none', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', NOT_HTTP],
    [
      'another protocol, unasked',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      'the server switched protocols instead of sending a response',
    ],
  ]
  test.each(answers)(
    'a POST ends with a named error when the receiver sends %s',
    async (_what, bytes, error) => {
      const sink = await openScript(() => bytes)
      expect(await post(sink)).toMatchObject({ kind: 'response', error })
      await expectClosed(sink)
    },
  )

  test('an answer that ends too early', async () => {
    const error = 'the connection was lost during the response'
    for (const end of ['end', 'resetAndDestroy'] as const) {
      const sink = await openScript((_request, socket) => {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf', () => socket[end]())
        return undefined
      })
      expect(await post(sink)).toMatchObject({ kind: 'response', error })
    }
  })

  test('text that is none: broken UTF-8 and NUL are replaced, a character at the cut is left out', async () => {
    const bodies = [
      {
        sent: Buffer.from([0x61, 0xff, 0x00, 0xc3, 0x62, 0xed, 0xa0, 0x80]),
        body: 'a\uFFFD\uFFFD\uFFFDb\uFFFD\uFFFD\uFFFD',
      },
      { sent: Buffer.from(`${'x'.repeat(4095)}☕ and more`), body: 'x'.repeat(4095) },
      { sent: Buffer.from('ends in the middle of ☕').subarray(0, -1), body: 'ends in the middle of \uFFFD' },
      { sent: Buffer.from('☕'.repeat(3000)), body: '☕'.repeat(1365) },
    ]
    for (const { sent, body } of bodies) {
      const sink = await openSink({ answer: (_request, response) => response.end(sent) })
      expect(await post(sink)).toMatchObject({ status: 200, body })
    }
  })
})
