/** Every breaking difference shows its proof: a message that one version accepts and the other refuses. */
import { expect, test } from 'vitest'
import { linesOfVerdict } from '../../generators/diagnostics/verdict.ts'
import { diffApis } from '../../generators/diff/diff.ts'
import type { Difference } from '../../generators/diff/difference.ts'
import { toPrinted } from '../../generators/witness/print.ts'
import { createJudge } from '../../generators/witness/witness.ts'
import { PAIRS, readApi } from './battery/pairs.ts'
import { judgeBattery } from './battery/witnesses.ts'

test('nearly every break of the battery has a witness, and ajv agrees with each', () => {
  const { breaks, unproven, checked, wrong } = judgeBattery(PAIRS.filter((_, index) => index % 3 === 0))
  expect(breaks).toBeGreaterThan(200)
  expect(unproven.length / breaks, unproven.join('\n')).toBeLessThanOrEqual(0.02)
  expect(checked).toBeGreaterThan(200)
  expect(wrong).toEqual([])
})

const documentOf = (version: string, { parameters = '', body = '{}', shelf = '{}' }) => `
openapi: 3.1.0
info: { title: T, version: '${version}' }
servers: [{ url: 'https://books.example/v1' }]
paths:
  /shelves/{shelf}/books:
    post:
      operationId: addBook
      parameters: [{ name: shelf, in: path, required: true, schema: { type: string } }${parameters}]
      requestBody: { required: true, content: { application/json: { schema: ${body} } } }
      responses: { '201': { description: ok, content: { application/json: { schema: ${shelf} } } } }
`

type Parts = Parameters<typeof documentOf>[1]

/** Returns the printed verdicts on all breaks between two documents. */
function verdicts(a: Parts, b: Parts): string[] {
  const [old, next] = [readApi(documentOf('2030-01-01', a)), readApi(documentOf('2030-06-01', b))]
  const judge = createJudge(old, next)
  const breaks = diffApis(old, next).filter((each) => each.class === 'breaking')
  return breaks.map((each) => linesOfVerdict(toPrinted(judge(each))).join('\n'))
}

const TITLE = 'required: [title], properties: { title: { type: string }'

test('a request is a curl command, with the least that the old version requires', () => {
  const parameters = `, { name: tags, in: query, explode: false, schema: { type: array, maxItems: 3, items: { type: string } } }`
  expect(
    verdicts(
      { body: `{ ${TITLE}, pages: { type: integer, minimum: 1 } } }`, parameters },
      {
        body: `{ ${TITLE}, pages: { type: integer, minimum: 5 } } }`,
        parameters: parameters.replace('maxItems: 3', 'maxItems: 1'),
      },
    ),
  ).toEqual([
    `witness: curl 'https://books.example/v1/shelves/a/books?tags=a,a' -X POST --json '{"title":"a"}'
  2030-01-01 accepts it; 2030-06-01 refuses it: must have at most 1 item`,
    `witness: curl 'https://books.example/v1/shelves/a/books' -X POST --json '{"title":"a","pages":1}'
  2030-01-01 accepts it; 2030-06-01 refuses it: pages must be at least 5`,
  ])
})

test('an answer shows what the old version does not expect, several levels down', () => {
  const shelf = (states: string) =>
    `{ type: object, required: [books], properties: { books: { type: array, items: { type: object, properties: { lent: { oneOf: [{ type: object, required: [at], properties: { at: { enum: [${states}] } } }, { type: 'null' }] } } } } } }`
  expect(verdicts({ shelf: shelf('home') }, { shelf: shelf('home, desk') })).toEqual([
    `witness: POST /shelves/{shelf}/books answers 201 {"books":[{"lent":{"at":"desk"}}]}
  2030-06-01 sends it; 2030-01-01 refuses it: books[0].lent.at must be one of "home"`,
  ])
})

test('what no message shows is not breaking, and what cannot be decided is', () => {
  const body = `{ ${TITLE}, lent: { type: boolean }, note: { type: string, pattern: '^[ab]$' } } }`
  const [old, next] = [
    readApi(documentOf('2030-01-01', { body })),
    readApi(documentOf('2030-06-01', { body: body.replace('[ab]', '(a|b)') })),
  ]
  const judge = createJudge(old, next)
  const [patterns] = diffApis(old, next)
  expect(patterns).toMatchObject({ code: 'pattern-changed', class: 'breaking' })
  expect(judge(patterns!)).toMatchObject({ kind: 'unproven' })
  const at = (name: string) =>
    ({ ...patterns!.old!, pointer: patterns!.old!.pointer.replace(/note$/, name) }) as const
  const claimed: Difference = { ...patterns!, code: 'type-narrowed', old: at('lent'), new: at('lent') }
  expect(judge(claimed)).toEqual({ kind: 'disproven', reason: 'both versions accept the same values' })
})

test('a request shows an entry that lost its name, and none shows null in a query', () => {
  const query = (type: string) => `, { name: q, in: query, schema: { type: ${type} } }`
  const map = (properties = '') => `{ type: object, ${properties} additionalProperties: { type: string } }`
  expect(
    verdicts(
      { body: map('properties: { note: { type: string } },'), parameters: query('[string, "null"]') },
      { body: map(), parameters: query('string') },
    ),
  ).toEqual([
    'no witness exists, so it does not block: both versions accept the same values',
    `witness: curl 'https://books.example/v1/shelves/a/books' -X POST --json '{"note":"a"}'
  2030-01-01 accepts it; 2030-06-01 has no meaning of its own for note`,
  ])
})

test('a parameter with JSON content is read as part of a request, with what only requests have', () => {
  const parameters = (required: string) =>
    `, { name: filter, in: query, content: { application/json: { schema: { type: object, required: [id${required}], properties: { id: { type: string, readOnly: true }, secret: { type: string, writeOnly: true } } } } } }`
  expect(verdicts({ parameters: parameters('') }, { parameters: parameters(', secret') })).toEqual([
    `witness: curl 'https://books.example/v1/shelves/a/books?filter=%7B%7D' -X POST --json '"a"'
  2030-01-01 accepts it; 2030-06-01 refuses it: secret is required`,
  ])
})
