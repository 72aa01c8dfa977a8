/**
 * Edits of a schema that other tools classify differently. docs/toolkit/comparison.md lists them with the reason; a value
 * decides: it is valid on one side, and not on the other.
 */
export interface Disagreement {
  /** As in the table of the page. */
  readonly edit: string
  readonly use: 'request' | 'response'
  readonly old: string
  readonly next: string
  /** Valid for the sender and not for the reader; absent if there is none, so that the edit breaks nobody. */
  readonly witness?: unknown
}

const N = '{ type: object, properties: { n: { type: integer } } }'
const M = '{ type: object, properties: { m: { type: string } } }'

export const DISAGREEMENTS: readonly Disagreement[] = [
  {
    edit: 'a bound or length is added, in requests',
    use: 'request',
    old: '{ type: string }',
    next: '{ type: string, maxLength: 3 }',
    witness: 'abcd',
  },
  {
    edit: 'a different pattern, in requests',
    use: 'request',
    old: '{ type: string, pattern: "^a" }',
    next: '{ type: string, pattern: "^b" }',
    witness: 'a',
  },
  {
    edit: 'a member is added to `oneOf`, and a value can match two, in requests',
    use: 'request',
    old: `{ oneOf: [${N}] }`,
    next: `{ oneOf: [${N}, ${M}] }`,
    witness: { n: 1, m: 'b' },
  },
  {
    edit: 'a member is added to `oneOf` or `anyOf`, in responses',
    use: 'response',
    old: '{ anyOf: [{ type: string }] }',
    next: '{ anyOf: [{ type: string }, { type: integer }] }',
    witness: 1,
  },
  {
    edit: 'a member is removed from `oneOf`, and a value could match two, in responses',
    use: 'response',
    old: `{ oneOf: [${N}, ${M}] }`,
    next: `{ oneOf: [${N}] }`,
    witness: {},
  },
  {
    edit: 'a pattern is removed, in responses',
    use: 'response',
    old: '{ type: string, pattern: "^a" }',
    next: '{ type: string }',
    witness: 'b',
  },
  {
    edit: 'a length or bound becomes stricter, in responses',
    use: 'response',
    old: '{ type: string, minLength: 1 }',
    next: '{ type: string, minLength: 2 }',
  },
  {
    edit: 'a part of `allOf` that repeats other parts',
    use: 'request',
    old: `{ allOf: [${N}] }`,
    next: `{ allOf: [${N}, ${N}] }`,
  },
  {
    edit: 'a value is removed from `x-extensible-enum`',
    use: 'request',
    old: '{ type: string, x-extensible-enum: [a, b] }',
    next: '{ type: string, x-extensible-enum: [a] }',
  },
]
