/** What counts as a response, over real sockets: what is read of it, whether its connection is used again, and what is refused. */
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createOutbound, type Outbound } from '../../../runtime/events/outbound/outbound.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { closeSinks, openScript } from './sinks.ts'

const NOT_HTTP = 'the response is not HTTP'
const LOST = 'the connection was lost during the response'
const TOO_LONG = 'the response headers are too long'

let outbound: Outbound

beforeEach(() => {
  outbound = createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.0/8']), deadlineMs: 2000 })
})

afterEach(async () => {
  outbound.close()
  await closeSinks()
})

/** Sends two requests; the server sends the bytes to the first one, and ends the connection after them if `thenEnd`. */
async function read(bytes: string, { thenEnd = false, piece = bytes.length } = {}) {
  const sink = await openScript((request, socket) => {
    if (request > 1) return counted('')
    const write = async () => {
      for (let at = 0; at < bytes.length; at += piece) {
        socket.write(bytes.slice(at, at + piece), 'latin1')
        await turn()
      }
      if (thenEnd) socket.end()
    }
    write().catch((error) => socket.destroy(error))
    return undefined
  })
  const post = () => outbound.post({ url: `http://127.0.0.1:${sink.port}/`, headers: {}, body: '{}' })
  const result = await post()
  if ('error' in result) return result.error
  await turn() // what follows the response arrives
  expect(await post()).toMatchObject({ status: 200, body: 'ok' })
  return { status: result.status, body: result.body, reused: sink.connections.length === 1 }
}

const ok = (body: string, reused = true) => ({ status: 200, body, reused })
const counted = (fields: string) => `HTTP/1.1 200 OK\r\n${fields}Content-Length: 2\r\n\r\nok`
const chunked = (body: string) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`

const COMPLETE: readonly (readonly [what: string, bytes: string, want: unknown])[] = [
  ['a length', counted(''), ok('ok')],
  ['a length of zero', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', ok('')],
  ['no reason phrase', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok', ok('ok')],
  ['names in any case', 'HTTP/1.1 200 OK\r\ncontent-LENGTH:2\r\n\r\nok', ok('ok')],
  ['a 204 without a length', 'HTTP/1.1 204 No\r\n\r\n', { ...ok(''), status: 204 }],
  ['a 204 with a length', 'HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n', { ...ok(''), status: 204 }],
  ['a 304', 'HTTP/1.1 304 Not Modified\r\nConnection: keep-alive\r\n\r\n', { ...ok(''), status: 304 }],
  ['chunks', chunked('1\r\no\r\n1;x="y"\r\nk\r\n0\r\n\r\n'), ok('ok')],
  ['chunk sizes in hexadecimal', chunked('A\r\n0123456789\r\n0\r\n\r\n'), ok('0123456789')],
  ['chunks and trailers', chunked('2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n'), ok('ok')],
  ['HTTP/1.0', counted('').replace('1.1', '1.0'), ok('ok', false)],
  ['HTTP/1.0 with keep-alive', counted('Connection: Keep-Alive\r\n').replace('1.1', '1.0'), ok('ok')],
  ['Connection: close', counted('Connection: x, close\r\n'), ok('ok', false)],
  ['interim responses', `HTTP/1.1 103 Early\r\nLink: x\r\n\r\n${counted('')}`, ok('ok')],
  ['100 Continue, unasked', `HTTP/1.1 100 Continue\r\n\r\n${counted('')}`, ok('ok')],
  [
    '100 Continue after another interim response',
    `HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 100 Continue\r\nX: y\r\n\r\n${counted('')}`,
    ok('ok'),
  ],
  [
    'codings before the chunks',
    chunked('2\r\nok\r\n0\r\n\r\n').replace('chunked', 'gzip, chunked'),
    ok('ok'),
  ],
]

test.each(COMPLETE)('%s: the response is read, in one piece and byte by byte', async (_what, bytes, want) => {
  expect(await read(bytes)).toEqual(want)
  expect(await read(bytes, { piece: 1 })).toEqual(want)
})

const ENDED: readonly (readonly [what: string, bytes: string, want: unknown])[] = [
  ['a body until the end', 'HTTP/1.1 200 OK\r\n\r\nok', ok('ok', false)],
  [
    'a body until the end, though chunked in part',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n2\r\nok',
    ok('2\r\nok', false),
  ],
  ['less than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok', LOST],
  [
    'less than its length, with Connection: close',
    'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nok',
    LOST,
  ],
  ['chunks without the last one', chunked('2\r\nok\r\n'), LOST],
]

test.each(ENDED)('%s, and the server closes the connection', async (_what, bytes, want) => {
  expect(await read(bytes, { thenEnd: true })).toEqual(want)
})

const REFUSED: readonly (readonly [what: string, bytes: string])[] = [
  ['another protocol', 'SSH-2.0-x\r\n'],
  ['an unknown version', 'HTTP/3.7 200 OK\r\n\r\n'],
  ['another version', 'HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a space before the colon', counted('X : y\r\n')],
  ['a field without a colon', counted('X\r\n')],
  ['a folded field', counted('X-Long: a\r\n  b\r\n')],
  ['an interim response with a bare line feed', `HTTP/1.1 103 Early\nX: y\r\n\r\n${counted('')}`],
  ['a bare line feed', counted('X: y\nContent-Length: 0\r\n')],
  ['a bare carriage return', counted('X: y\rZ: 1\r\n')],
  ['NUL', counted('X: \0\r\n')],
  ['the same length twice', counted('Content-Length: 2\r\n')],
  ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok'],
  ['a length with a sign', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok'],
  ['a length in hexadecimal', 'HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok'],
  ['length and chunks', counted('Transfer-Encoding: chunked\r\n')],
  ['a chunk longer than its size', chunked('1\r\nok\r\n0\r\n\r\n')],
  ['a chunk without an end', chunked('2\r\nok--0\r\n\r\n')],
  ['a chunk without a size', chunked('\r\nok\r\n')],
  ['a chunk of a negative size', chunked('-2\r\nok\r\n')],
  ['a chunk extension without end', chunked(`1;${'x'.repeat(600_000)}`)],
]

test.each(REFUSED)('%s: that is not HTTP', async (_what, bytes) => {
  expect(await read(bytes)).toBe(NOT_HTTP)
})

test('a response in pieces of every size', async () => {
  const bytes = `HTTP/1.1 100 Continue\r\n\r\n${chunked('1;x=y\r\no\r\n1\r\nk\r\n0\r\nX-Sum: 1\r\n\r\n')}`
  for (let at = 1; at < bytes.length; at += 1) {
    expect([at, await read(bytes, { piece: at })]).toEqual([at, ok('ok')])
  }
})

test('bytes that come with a response are never read as the next response', async () => {
  for (const more of ['HTTP/1.1 299 Forged\r\n', counted('').replace('200', '299')]) {
    expect(await read(counted('') + more)).toMatchObject({ status: 200, body: 'ok' })
  }
})

test('a change of the protocol, unasked, is no answer', async () => {
  expect(await read('HTTP/1.1 101 X\r\n\r\n')).toBe(
    'the server switched protocols instead of sending a response',
  )
})

describe('limits', () => {
  test('headers without end, trailers without end, and a reason phrase without end', async () => {
    expect(await read(chunked(`0\r\n${'X: y\r\n'.repeat(15_000)}`))).toBe(TOO_LONG)
    expect(await read(`HTTP/1.1 200 OK\r\n${'X: yyyyy\r\n'.repeat(4000)}`)).toBe(TOO_LONG)
    expect(await read('HTTP/1.1 200 '.padEnd(600_000, 'x'))).toBe(TOO_LONG)
  })

  test('a response without end: 64 KiB of its body are read, and its status counts', async () => {
    const endless = [
      `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(70_000)}`,
      `HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n${'x'.repeat(65_536)}`,
      chunked('1\r\nx\r\n'.repeat(70_000)),
      chunked(`1;${'x'.repeat(16_000)}\r\nx\r\n`.repeat(40)),
    ]
    for (const bytes of endless) expect(await read(bytes)).toMatchObject({ status: 200, reused: false })
  })

  test('a body of 64 KiB less one byte is read to its end', async () => {
    const bytes = `HTTP/1.1 200 OK\r\nContent-Length: 65535\r\n\r\n${'x'.repeat(65_535)}`
    expect(await read(bytes)).toEqual(ok('x'.repeat(4096)))
  })

  test('header names and values of 16 KiB are refused, shorter ones are read', async () => {
    const withHeader = (length: number) => counted(`X: ${'x'.repeat(length)}\r\n`)
    expect(await read(withHeader(16_300))).toEqual(ok('ok'))
    expect(await read(withHeader(16_384))).toBe(TOO_LONG)
  })

  test('16 interim responses are skipped, 17 are refused', async () => {
    const interim = 'HTTP/1.1 103 Early\r\n\r\n'
    expect(await read(interim.repeat(16) + counted(''))).toEqual(ok('ok'))
    expect(await read(interim.repeat(17) + counted(''))).toBe('the server sent too many interim responses')
    expect(await read(`HTTP/1.1 103 Early\r\n${'X: yyyyy\r\n'.repeat(4000)}`)).toBe(TOO_LONG)
  })
})
