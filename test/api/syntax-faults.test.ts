/** Where a body stops being JSON, and what it should say there. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findSyntaxFault } from '../../runtime/api/json/find-syntax-fault.ts'

test.each([
  ['', 1, 1, 'a value'],
  ['{"a": 1,}', 1, 9, 'a name in double quotes'],
  ['{"a": 1\n "b": 2}', 2, 2, 'a comma or }'],
  ["{'a': 1}", 1, 2, 'a name in double quotes or }'],
  ['{"a" 1}', 1, 6, 'a colon'],
  ['{"a": tru}', 1, 7, 'a value'],
  ['{"a": 01}', 1, 8, 'a comma or }'],
  ['{\r\n\t"a": .5\r\n}', 2, 7, 'a value'],
  ['[1, 2', 1, 6, 'a comma or ]'],
  ['{"a": "x', 1, 9, 'the closing double quote'],
  ['{"a": "x\ny"}', 1, 9, 'the closing double quote'],
  ['{"a": "\\x"}', 1, 8, 'a valid escape sequence'],
  ['{} {}', 1, 4, 'the end of the body'],
  ['\ufeff{}', 1, 1, 'a value'],
  ['[}', 1, 2, 'a value'],
])('a syntax fault is located: %j: line %i, column %i should be %s', (text, line, column, expected) => {
  expect(findSyntaxFault(text)).toEqual({ line, column, expected })
})

test('the finder of syntax faults finds one in what JSON.parse refuses, and in nothing else', () => {
  const damaged = fc
    .tuple(
      fc.json(),
      fc.nat(),
      fc.nat(2),
      fc.constantFrom('', ',', ':', '"', '{', ']', '\\', '1', 'e', '\n', ' '),
    )
    .map(([text, at, length, put]) => {
      const from = at % (text.length + 1)
      return text.slice(0, from) + put + text.slice(from + length)
    })
  const isJson = (text: string) => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(damaged, (text) => {
      expect(findSyntaxFault(text) === undefined).toBe(isJson(text))
    }),
    { numRuns: 3000 },
  )
})

test('the finder of syntax faults takes deeply nested text, and a string of megabytes', () => {
  expect(findSyntaxFault('['.repeat(1_000_000))).toMatchObject({ column: 1_000_001 })
  expect(findSyntaxFault(`"${'x\\n'.repeat(1_000_000)}`)).toMatchObject({
    expected: 'the closing double quote',
  })
})
