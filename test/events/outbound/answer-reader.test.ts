/** Answers as bytes, in one piece and in every other: what is read, and what is no answer. */
import { describe, expect, test } from 'vitest'
import { AnswerReader } from '../../../runtime/events/outbound/answer-reader.ts'

const NOT_HTTP = 'what came back is not HTTP'

/** What came of the bytes; undefined while more is waited for. The connection ends behind them. */
function read(pieces: readonly string[]) {
  const reader = new AnswerReader()
  for (const piece of pieces) {
    const step = reader.read(Buffer.from(piece, 'latin1'))
    if (typeof step === 'object') return step.error
    if (step !== 'more') return { status: reader.status, body: reader.body, kept: reader.keptSeconds, step }
  }
  return reader.end() === 'complete' ? { status: reader.status, body: reader.body, kept: 0 } : undefined
}

const ok = (body: string, kept = Infinity) => ({ status: 200, body, kept, step: 'complete' })
const counted = (fields: string) => `HTTP/1.1 200 OK\r\n${fields}Content-Length: 2\r\n\r\nok`
const chunked = (body: string) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`

const ANSWERS: readonly (readonly [what: string, bytes: string, want: unknown])[] = [
  ['a length', counted(''), ok('ok')],
  ['a length of nothing', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', ok('')],
  ['no reason', 'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok', ok('ok')],
  ['names in any letters', 'HTTP/1.1 200 OK\r\ncontent-LENGTH:2\r\n\r\nok', ok('ok')],
  ['no body by its status', 'HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\n', { ...ok(''), status: 204 }],
  [
    'no body by its status, and no length',
    'HTTP/1.1 304 Not Modified\r\nConnection: keep-alive\r\n\r\n',
    { ...ok(''), status: 304 },
  ],
  ['a folded field', counted('X-Long: a\r\n  b\r\n'), ok('ok')],
  ['chunks', chunked('1\r\no\r\n1;x="y"\r\nk\r\n0\r\n\r\n'), ok('ok')],
  [
    'chunks of sizes in hexadecimal',
    chunked('A\r\n0123456789\r\n0a\r\n0123456789\r\n0\r\n\r\n'),
    ok('01234567890123456789'),
  ],
  ['chunks and trailers', chunked('2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n'), ok('ok')],
  [
    'codings before the chunks',
    counted('')
      .replace('Content-Length: 2', 'Transfer-Encoding: gzip, chunked')
      .replace('\r\n\r\nok', '\r\n\r\n2\r\nok\r\n0\r\n\r\n'),
    ok('ok'),
  ],
  ['until the end', 'HTTP/1.1 200 OK\r\n\r\nok', { status: 200, body: 'ok', kept: 0 }],
  [
    'until the end, chunks being coded themselves',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n2\r\nok',
    { status: 200, body: '2\r\nok', kept: 0 },
  ],
  ['HTTP/1.0', counted('').replace('1.1', '1.0'), ok('ok', 0)],
  ['HTTP/1.0 that is kept', counted('Connection: Keep-Alive\r\n').replace('1.1', '1.0'), ok('ok')],
  ['closed afterwards', counted('Connection: x, close\r\n'), ok('ok', 0)],
  ['kept for a while', counted('Keep-Alive: max=5, timeout=7\r\n'), ok('ok', 7)],
  ['interim answers', `HTTP/1.1 103 Early\r\nLink: x\r\n\r\n${counted('')}`, ok('ok')],
  ['less than its length', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok', undefined],
  ['chunks without end', chunked('2\r\nok\r\n'), undefined],
  ['another protocol', 'SSH-2.0-x\r\n', NOT_HTTP],
  ['another version', 'HTTP/2.0 200 OK\r\n\r\n', NOT_HTTP],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', NOT_HTTP],
  ['a space before the colon', counted('X : y\r\n'), NOT_HTTP],
  ['a field without a colon', counted('X\r\n'), NOT_HTTP],
  ['a bare line feed', counted('X: y\nContent-Length: 0\r\n'), NOT_HTTP],
  ['a bare carriage return', counted('X: y\rZ: 1\r\n'), NOT_HTTP],
  ['NUL', counted('X: \0\r\n'), NOT_HTTP],
  ['the same length twice', counted('Content-Length: 2\r\n'), NOT_HTTP],
  ['a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok', NOT_HTTP],
  ['a length with a sign', 'HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok', NOT_HTTP],
  ['a length in hexadecimal', 'HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok', NOT_HTTP],
  ['length and chunks', counted('Transfer-Encoding: chunked\r\n'), NOT_HTTP],
  ['a chunk longer than it says', chunked('1\r\nok\r\n0\r\n\r\n'), NOT_HTTP],
  ['a chunk without an end', chunked('2\r\nok--0\r\n\r\n'), NOT_HTTP],
  ['a chunk of no size', chunked('\r\nok\r\n'), NOT_HTTP],
  ['a chunk of a negative size', chunked('-2\r\nok\r\n'), NOT_HTTP],
  ['a chunk line without end', chunked('1;'.padEnd(2000, 'x')), NOT_HTTP],
  [
    'another protocol, unasked',
    'HTTP/1.1 101 Switching\r\n\r\n',
    'what came back is no answer to this request',
  ],
  [
    'headers without end',
    `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(4000)}`,
    'the headers of the answer are too long',
  ],
]

describe.each(ANSWERS)('%s', (_what, bytes, want) => {
  test('the reader of answers reads it in one piece', () => expect(read([bytes])).toEqual(want))

  test('the reader of answers reads it byte by byte', () => expect(read(bytes.split(''))).toEqual(want))

  test('the reader of answers reads it in two pieces, wherever they meet', () => {
    for (let at = 1; at < Math.min(bytes.length, 300); at += 1) {
      expect([at, read([bytes.slice(0, at), bytes.slice(at)])]).toEqual([at, want])
    }
  })
})

test('bytes behind an answer make its connection useless', () => {
  expect(read([`${counted('')}HTTP/1.1 200 Forged\r\n`])).toEqual(ok('ok', 0))
})

test('the reader of answers reads 64 KiB of endless bodies, whatever they consist of', () => {
  const endless = [
    `HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(70_000)}`,
    `HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n${'x'.repeat(70_000)}`,
    chunked(`${'1\r\nx\r\n'.repeat(30_000)}`),
    chunked(`0\r\n${'X: y\r\n'.repeat(15_000)}`),
  ]
  for (const bytes of endless) expect(read([bytes])).toMatchObject({ status: 200, step: 'cut' })
})

test('the limits of a header block and of a body are exact', () => {
  const blockOf = (bytes: number) =>
    `${'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: '.padEnd(bytes, 'x')}\r\n\r\n`
  expect(read([blockOf(16_384)])).toEqual(ok(''))
  expect(read([blockOf(16_385)])).toBe('the headers of the answer are too long')
  const lengthOf = (bytes: number) =>
    `HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`
  expect(read([lengthOf(65_535)])).toMatchObject({ step: 'complete' })
  expect(read([lengthOf(65_536)])).toMatchObject({ step: 'cut' })
  const interim = 'HTTP/1.1 103 Early\r\n\r\n'
  expect(read([interim.repeat(16) + counted('')])).toEqual(ok('ok'))
  expect(read([interim.repeat(17) + counted('')])).toBe('interim answers came without end')
})
