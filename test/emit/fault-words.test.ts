/** What callers read of a value that does not fit: words that say what would. */
import { expect, test } from 'vitest'
import { explain } from '../../generators/runtime/explain.ts'

const ID = '^tpl_[0-9a-z]{26}$'
const EXAMPLE = 'tpl_01jx2f8m3q5r7s9t1v3w5x7y9z'

test.each([
  [{ type: 'string', minLength: 2 }, 'x', 'must have at least 2 characters'],
  [{ type: 'string', maxLength: 1 }, 'xy', 'must have at most 1 character'],
  [{ type: 'string', pattern: '^#[0-9A-F]{6}$' }, 'red', 'must match the pattern ^#[0-9A-F]{6}$'],
  // An identifier of another kind is not told how long it should be.
  [{ type: 'string', pattern: ID, minLength: 30, examples: [EXAMPLE] }, 'x', `must look like "${EXAMPLE}"`],
  [
    { type: 'string', pattern: '^\\d{4}', examples: ['year', '2026-06-01', '2026', '2027', 5] },
    'tomorrow',
    'must look like "2026-06-01" or "2026"',
  ],
  [{ type: 'string', pattern: '^a+$', examples: ['a'.repeat(61)] }, 'b', 'must match the pattern ^a+$'],
  [
    { type: 'string', maxLength: 3, pattern: '^a$', examples: ['a'] },
    'aaaa',
    'must have at most 3 characters',
  ],
  [{ type: 'string', format: 'email' }, 'x', 'must be a valid email'],
  [{ type: 'object', maxProperties: 0 }, { a: 1 }, 'must be empty'],
  [{ type: 'object', maxProperties: 1 }, { a: 1, b: 2 }, 'must have at most 1 member'],
  [{ type: 'object', additionalProperties: false }, { a: 1 }, 'is not a known property'],
  [{ type: 'object', required: ['a'] }, {}, 'is required'],
  [{ enum: ['a', 1] }, 'b', 'must be one of "a", 1'],
  [{ const: 'wipe' }, 'x', 'must be "wipe"'],
  [{ type: 'number', multipleOf: 0.01 }, 0.015, 'must be a multiple of 0.01'],
  [{ type: ['string', 'null'] }, 1, 'must be a string or null'],
])('a fault is described in words: %j, given %j, %s', (schema, value, issue) => {
  const document = { openapi: '3.1.0', components: { schemas: { Given: schema } } }
  const formats = { email: (text: string) => text.includes('@') }
  expect(explain(document, '/components/schemas/Given', value, formats).map((each) => each.issue)).toEqual([
    issue,
  ])
})
