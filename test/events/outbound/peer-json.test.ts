/** JSON of other systems that names a member twice: readers take different ones, so it decides nothing. */
import { expect, test } from 'vitest'
import { readAnswer } from '../../../runtime/cards/decisions/question.ts'
import { parsePeerJson } from '../../../runtime/platform/json/peer-json.ts'

test.each([
  ['{"approved":false,"approved":true}'],
  ['{"approved":true,"approved":true}'],
  ['{"a":{"b":1,"b":2}}'],
  ['[{"a":1},{"a":1,"a":1}]'],
  ['{"a:b":1,"a:b":2}'],
  ['{"\\u0061":1,"a":2}'],
  ['{"__proto__":1,"__proto__":2}'],
  ['{"a":":","a":"\\u003a"}'],
  ['{"a":1'],
])('the JSON reader refuses a repeated member: %s', (text) => {
  expect(() => parsePeerJson(text)).toThrow(SyntaxError)
})

test.each([
  ['{"a":":","b":"\\u003a","c:d":{"a":[":"]}}'],
  ['{"__proto__":1}'],
  ['"a:b"'],
  ['null'],
  ['{"a":"\\\\u003a"}'],
])('the JSON reader accepts unrepeated members: %s', (text) => {
  expect(parsePeerJson(text)).toEqual(JSON.parse(text))
})

test('text that is nested deeper than calls can be is read', () => {
  expect(parsePeerJson(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)).toBeInstanceOf(Array)
})

test.each([
  ['{"approved":true}', 'responded'],
  ['{"approved":false,"approved":true}', 'errored'],
  ['{"approved":true,"amount":5,"amount":1}', 'errored'],
])('an answer to a question about a card: %s is %s', (body, status) => {
  expect(readAnswer({ status: 200, body, durationMs: 1 }, 10).status).toBe(status)
})
