/** A second opinion on the gate: ajv on values. What one schema accepts and the other refuses must be named. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'
import { SCHEMAS_OF_OTHERS } from './others.ts'
import { checkPair, schemaPair } from './pairs.ts'
import { COMPONENTS, SCHEMA_ROWS } from './schemas.ts'

const WORDS = [
  '',
  'a',
  'b',
  'c',
  'bb',
  'abc',
  'x1',
  'longer than nine',
  '2030-01-01',
  'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
]
const NUMBERS = [0, 0.01, 0.05, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 9, 9.5, 10, 11, 12, -3, 3_000_000_000]
const SCALARS: readonly unknown[] = [...WORDS, ...NUMBERS, true, false, null]
const OBJECTS: readonly unknown[] = [
  {},
  ...['a', 'b', 'c', 'm', 'n', 'p', 'q', 't', 'z', 'x1', 'line', 'row'].flatMap((name) =>
    ['a', 'b', 'longer', 1, true, null, [], {}].map((value) => ({ [name]: value })),
  ),
  ...['a', 'b', 'c'].flatMap((t) => [
    { t },
    { t, n: 1 },
    { t, m: 'x' },
    { t, m: 'long text' },
    { t, k: true },
    { t, z: 1, y: 2, x: 3 },
  ]),
  { a: 1, b: 1 },
  { a: 1, b: 1, c: 1 },
  { c: 1, b: 1 },
  { p: { q: ['a'] } },
  { p: { q: [1.5] } },
  { a: 1, b: 2, c: 3, d: 4 },
]
const LISTS: readonly unknown[] = [
  [],
  [1],
  ['a'],
  ['a', 'a'],
  [1, 2],
  ['long text'],
  ['a', 1],
  ['a', 'b'],
  ['a', 'b', 'c'],
  [1, 2, 3, 4],
  ['a', 'b', 'c', 'd'],
  [true],
  [[1]],
  [{}],
]
const VALUES = [...SCALARS, ...OBJECTS, ...LISTS]

/** Every schema of the table that is written in 2020-12, with the values that it accepts. */
function acceptances(): { readonly text: string; readonly accepts: readonly boolean[] }[] {
  const rows = [...SCHEMA_ROWS, ...SCHEMAS_OF_OTHERS]
  const texts = rows.flatMap(([, a, b, , , only]) => (only === '3.0' ? [] : [a, b]))
  return [...new Set(texts)]
    .filter(
      (text) =>
        !/readOnly|writeOnly|nullable|discriminator|content(Encoding|Media)|int(32|64)|float|double|default/.test(
          text,
        ),
    )
    .map((text) => {
      const accepts = validatorOf(text)
      return { text, accepts: VALUES.map(accepts) }
    })
}

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
const schemas = parse(`{ ${COMPONENTS} }`) as object

/** Compiles a schema of the battery in 2020-12. */
function validatorOf(text: string): (value: unknown) => boolean {
  const validate = ajv.compile({ ...(parse(text) as object), components: { schemas } })
  return (value) => validate(value)
}

/** Returns the values that the sender's schema accepts and the reader's refuses. */
export function refusedValues(
  sent: string,
  read: string,
  values: readonly unknown[] = VALUES,
): readonly unknown[] {
  const [accepts, reads] = [validatorOf(sent), validatorOf(read)]
  return values.filter((value) => accepts(value) && !reads(value))
}

export interface Opinion {
  readonly pairs: number
  /** Schemas of which the first accepts a value that the second refuses, and of which the gate says nothing. */
  readonly missed: readonly string[]
}

/** Compares every schema of the table with every other as the body of a request. */
export function askOracle(every = 1): Opinion {
  const all = acceptances()
  const missed: string[] = []
  let pairs = 0
  let at = 0
  for (const one of all) {
    for (const other of all) {
      at += 1
      if (at % every !== 0) continue
      const lost = one.accepts.findIndex((accepted, index) => accepted && !other.accepts[index])
      if (lost < 0) continue
      pairs += 1
      const { got, codes } = checkPair(schemaPair(one.text, other.text))
      // By contract an optional property may come to an open object: nobody sends what no document declares.
      if (got !== 'b' && !codes.some((each) => each.startsWith('additive property-added:')))
        missed.push(
          `${one.text} → ${other.text} refuses ${JSON.stringify(VALUES[lost])}: ${codes.join('; ')}`,
        )
    }
  }
  return { pairs, missed }
}
