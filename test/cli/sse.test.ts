/** Server-sent events, held against the rules of WHATWG HTML 9.2.6, with chunks that end anywhere. */
import { expect, test } from 'vitest'
import { createEventParser, type ServerEvent } from '../../runtime/cli/sse.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function parse(...chunks: readonly Uint8Array[]): ServerEvent[] {
  const push = createEventParser()
  return chunks.flatMap(push)
}

const event = (data: string, type = 'message', id = '') => ({ id, type, data })

test.each<{ given: string; want: readonly ServerEvent[] }>([
  {
    given: 'id: evt_1\nevent: pass.created\ndata: {"a":1}\n\n',
    want: [event('{"a":1}', 'pass.created', 'evt_1')],
  },
  { given: 'data: a\n\ndata: b\n\n', want: [event('a'), event('b')] },
  { given: 'data: a\r\n\r\ndata: b\r\n\r\n', want: [event('a'), event('b')] },
  { given: 'data: a\r\rdata: b\r\r', want: [event('a'), event('b')] },
  { given: 'data: a\r\n\ndata: b\n\r\n', want: [event('a'), event('b')] },
  { given: 'data: a\ndata: b\ndata:\ndata: c\n\n', want: [event('a\nb\n\nc')] },
  { given: 'data:a\n\ndata:  a\n\n', want: [event('a'), event(' a')] },
  { given: 'data\n\n', want: [event('')] },
  { given: 'data: a: b\n\n', want: [event('a: b')] },
  { given: ': hello\n\n:\n\ndata: a\n:within\ndata: b\n\n', want: [event('a\nb')] },
  { given: 'event: x\n\ndata: a\n\n', want: [event('a')] },
  { given: 'event: x\ndata: a\n\ndata: b\n\n', want: [event('a', 'x'), event('b')] },
  {
    given: 'id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n',
    want: [event('a', undefined, '1'), event('b', undefined, '1'), event('c')],
  },
  { given: 'id: 1\n\ndata: a\n\n', want: [event('a', undefined, '1')] },
  { given: 'id: 1\0\ndata: a\n\n', want: [event('a')] },
  { given: 'retry: 10\nDATA: a\nwhat: ever\n data: b\ndata: c\n\n', want: [event('c')] },
  { given: '\ufeffdata: a\n\n', want: [event('a')] },
  { given: 'data: \ufeff\n\n', want: [event('\ufeff')] },
  { given: 'data: ß€𝄞\u2028\n\n', want: [event('ß€𝄞\u2028')] },
  { given: 'data: never finished\n', want: [] },
  { given: 'data: a\n\ndata: cut o', want: [event('a')] },
  { given: '\n\n\n', want: [] },
])('the reader of event streams reads $given', ({ given, want }) => {
  const whole = bytes(given)
  expect(parse(whole)).toEqual(want)
  expect(parse(...Array.from(whole, (byte) => Uint8Array.of(byte)))).toEqual(want)
  for (let at = 0; at <= whole.length; at++) {
    for (let then = at; then <= whole.length; then++) {
      const chunks = [whole.subarray(0, at), whole.subarray(at, then), whole.subarray(then)]
      expect(parse(...chunks), `cut at ${at} and ${then}`).toEqual(want)
    }
  }
})

test('an event is given as soon as it is complete', () => {
  const push = createEventParser()
  expect(push(bytes('data: a\r\n'))).toEqual([])
  expect(push(bytes('\r'))).toEqual([event('a')])
  expect(push(bytes('\ndata: b\n\n'))).toEqual([event('b')])
})

test('a long event in many chunks takes no time', () => {
  const data = 'x'.repeat(1_000_000)
  const whole = bytes(`data: ${data}\n\n`)
  const chunks = Array.from({ length: 100 }, (_, n) => whole.subarray(n * 10_001, (n + 1) * 10_001))
  expect(parse(...chunks)).toEqual([event(data)])
})
