/**
 * Drafts that the gate proposes: each compiles as it is written against the types of its two documents, and passes the gate once a
 * person has decided what it leaves open. `UPDATE_GOLDEN=1` writes what is proposed for each code.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { between, type Lens } from '../../generators/change/change.ts'
import type { LoadedChange } from '../../generators/change/load-changes.ts'
import { formatLocation } from '../../generators/diff/difference.ts'
import { printDocumentTypes } from '../../generators/emit/types/types.ts'
import { checkSteps, proposalsFor } from '../../generators/gate/gate.ts'
import { claimSteps } from '../../generators/gate/steps.ts'
import type { Api } from '../../generators/ir/model.ts'
import { printDraft } from '../../generators/propose/draft-file.ts'
import { proveSteps } from '../../generators/prove/family.ts'
import { refute } from '../../generators/prove/law.ts'
import { programOf } from '../versions/compile.ts'
import { OPERATION_ROWS } from './battery/operations.ts'
import { ROWS } from './diff.table.ts'
import { readPair, using } from './versions.ts'

const GOLDEN = 'test/toolkit/drafts.txt'

interface Drafted {
  readonly name: string
  readonly apis: readonly [Api, Api]
  readonly codes: readonly string[]
  readonly lens: string
  readonly why: string
}

function draftsOf(name: string, old: string, next: string): Drafted[] {
  const apis = readPair(old, next)
  const open = claimSteps(apis, []).flatMap(({ claimed }) =>
    claimed.flatMap(({ difference }) => (difference.class === 'breaking' ? [difference] : [])),
  )
  return proposalsFor(open, ...apis, []).map(({ id, lens, why, differences }) => ({
    name: `${name}: ${id}`,
    apis,
    codes: differences.map((each) => `${each.code} ${formatLocation(each.at).replace(/[A-Z]\w*/, '')}`),
    lens,
    why,
  }))
}

const MOVED: readonly (readonly [string, string, string])[] = [
  [
    'a property that moved into an object',
    using('response', 'X: { type: object, properties: { city: { type: string }, at: { type: object } } }'),
    using(
      'response',
      'X: { type: object, properties: { at: { type: object, properties: { city: { type: string } } } } }',
    ),
  ],
  [
    'a property of another name, nested',
    using(
      'event',
      'X: { type: object, properties: { at: { type: object, properties: { lineType: { type: string } } } } }',
    ),
    using(
      'event',
      'X: { type: object, properties: { at: { type: object, properties: { line_type: { type: string } } } } }',
    ),
  ],
]

const ok = 'responses: { "200": { description: ok } }'
/** One operation in flow style. */
const asked = (parameters: string, path = '/a', id = 'getA', status = '200'): string =>
  `paths: { "${path}": { get: { operationId: ${id}, summary: Find what there is, parameters: [${parameters}], responses: { '${status}': { description: ok } } } } }`
const query = (name: string, schema = '{ type: integer }', more = ''): string =>
  `{ name: ${name}, in: query, schema: ${schema}${more} }`
const placeholder = (name: string): string =>
  `{ name: ${name}, in: path, required: true, schema: { type: string } }`
const things = (nullable: boolean): string =>
  `X: { type: ${nullable ? '[object, "null"]' : 'object'}, properties: { a: { type: string } } }`

const X = (properties: string, more = ''): string =>
  using('request', `X: { type: object, properties: { ${properties} }${more} }`)
/** Two operations, of which only one has an id. */
const twice = (parameters: string): string =>
  `paths: { /a: { get: { operationId: getA, parameters: [${parameters}], ${ok} } }, /b: { get: { parameters: [${parameters}], ${ok} } } }`
const posted = (name: string, required: boolean): string =>
  `paths: { /a: { post: { operationId: postA, parameters: [{ name: ${name}, in: header, required: ${required}, schema: { type: string } }], responses: { '200': { description: ok } } } } }`
const signed = (name: string): string =>
  `paths: {}\nwebhooks: { a.done: { post: { parameters: [{ name: ${name}, in: header, required: true, schema: { type: string } }], responses: { '200': { description: ok } } } } }`

const PROPOSED: readonly (readonly [string, string, string])[] = [
  ['a property of another name', X('lineType: { type: string }'), X('line_type: { type: string }')],
  [
    'a property of another name, null now',
    X('lineType: { type: string }'),
    X('line_type: { type: [string, "null"] }'),
  ],
  [
    'two properties in the place of one',
    X('name: { type: string }'),
    X('first_name: { type: string, maxLength: 5 }, last_name: { type: string, maxLength: 5 }'),
  ],
  ['a property that requests must have', X('a: {}'), X('a: {}, b: { type: string }', ', required: [b]')],
  [
    'members of other names',
    using('request', 'X: { enum: [lineA, b] }'),
    using('request', 'X: { enum: [line_a, b] }'),
  ],
  ['members of other names, in a property', X('p: { enum: [lineA, b] }'), X('p: { enum: [line_a, b] }')],
  [
    'members of other names, nested',
    X('o: { type: object, properties: { p: { enum: [lineA, b] } } }'),
    X('o: { type: object, properties: { p: { enum: [line_a, b] } } }'),
  ],
  ['numbers of a list', X('p: { enum: [1, 2] }'), X('p: { enum: [1, 3] }')],
  [
    'a component of another name',
    using(
      'request',
      'X: { type: object, properties: { a: { $ref: "#/components/schemas/A" } } }, A: { enum: [lineA] }',
    ),
    using(
      'request',
      'X: { type: object, properties: { a: { $ref: "#/components/schemas/Z" } } }, Z: { enum: [line_a] }',
    ),
  ],
  [
    'a parameter of another name',
    asked(query('page_size')),
    asked(query('pageSize', '{ type: integer, maximum: 9 }')),
  ],
  ['a parameter of another name alone', asked(query('page_size')), asked(query('pageSize'))],
  [
    'a placeholder of another name, on another path',
    asked(placeholder('thing_id'), '/a/{thing_id}'),
    asked(placeholder('thingId'), '/b/{thingId}'),
  ],
  [
    'a header that is ignored',
    posted('Key', false),
    posted('Key', false).replace(/parameters: \[.*?\], /, ''),
  ],
  [
    'a filter of another type',
    asked(query('q', '{ type: string }', ', x-filter: equality')),
    asked(query('q', '{ type: integer }', ', x-filter: equality')),
  ],
  [
    'an operation of another id and path, and what differs in it',
    asked(query('q'), '/a', 'findThings'),
    asked(query('q', '{ type: integer, maximum: 9 }'), '/b', 'findAllThings', '200'),
  ],
  [
    'null for a whole component, in answers',
    using('response', things(false)),
    using('response', things(true)),
  ],
  [
    'null for a whole component, in requests',
    using('request', things(true)),
    using('request', things(false)),
  ],
  [
    'properties that moved into an object that came with them',
    using('response', 'X: { type: object, properties: { city: { type: string }, zip: { type: integer } } }'),
    using(
      'response',
      'X: { type: object, properties: { at: { type: object, properties: { city: { type: string }, zip: { type: integer } } } } }',
    ),
  ],
  [
    'properties that moved out of an object that went with them',
    using(
      'response',
      'X: { type: object, properties: { at: { type: object, properties: { city: { type: string }, zip: { type: integer } } } } }',
    ),
    using('response', 'X: { type: object, properties: { city: { type: string }, zip: { type: integer } } }'),
  ],
  [
    'properties that only the members of a new union have',
    using('response', 'X: { type: object, properties: { a: { type: string } } }'),
    using(
      'response',
      'X: { type: object, oneOf: [{ $ref: "#/components/schemas/A" }, { $ref: "#/components/schemas/B" }] }, A: { type: object, properties: { a: { type: string } } }, B: { type: object, properties: { b: { type: string } } }',
    ),
  ],
  ['a default of another type', X('p: { type: boolean, default: "false" }'), X('p: { type: boolean }')],
  [
    'a header that is required, also where no lens can name the operation',
    twice(''),
    twice('{ name: Key, in: header, required: true, schema: { type: string } }'),
  ],
  ['a header that is required', posted('Key', false), posted('Key', true)],
  ['a header that is new and required', posted('Other', false), posted('Key', true)],
  ['a header of events of another name', signed('X-Sign'), signed('Sign')],
]

/** What differs in an object that is written out where it stands: each code, in each place. */
const WRITTEN_OUT: readonly (readonly [string, string, string])[] = [
  [
    'a property that may be absent',
    'required: [p], properties: { p: {}, q: {} }',
    'properties: { p: {}, q: {} }',
  ],
  [
    'a property that may be null',
    'properties: { p: { type: integer } }',
    'properties: { p: { type: [integer, "null"] } }',
  ],
  ['a property that is gone', 'properties: { p: { type: integer }, q: {} }', 'properties: { q: {} }'],
  [
    'a property of another name',
    'properties: { lineType: { type: string } }',
    'properties: { line_type: { type: string } }',
  ],
  [
    'two properties in the place of one',
    'properties: { name: { type: string } }',
    'properties: { first_name: { type: string, maxLength: 5 }, last_name: { type: string, maxLength: 5 } }',
  ],
  [
    'a property of another type',
    'properties: { p: { type: string } }',
    'properties: { p: { type: integer } }',
  ],
  [
    'a property of an odd name',
    'properties: { "a b": { type: string } }',
    'properties: { "a b": { type: integer } }',
  ],
  [
    'members of other names',
    'properties: { p: { enum: [lineA, b] } }',
    'properties: { p: { enum: [line_a, b] } }',
  ],
  [
    'a property that is required',
    'properties: { p: { type: string } }',
    'required: [p], properties: { p: { type: string } }',
  ],
  [
    'a new property that is required',
    'properties: { q: {} }',
    'required: [p], properties: { p: { type: string }, q: {} }',
  ],
]

const content = (schema: string) => `content: { application/json: { schema: ${schema} } }`
const sent = (own: string) => `paths: { /a: { post: { operationId: sendA, ${own} } } }`
const PLACES: readonly (readonly [string, (schema: string) => string])[] = [
  ['a body', (schema) => sent(`requestBody: { ${content(schema)} }, ${ok}`)],
  [
    'a part of a body',
    (schema) => sent(`requestBody: { ${content(`{ type: object, properties: { of: ${schema} } }`)} }, ${ok}`),
  ],
  ['an answer', (schema) => sent(`responses: { "200": { description: ok, ${content(schema)} } }`)],
  [
    'a list in an answer',
    (schema) =>
      sent(
        `responses: { "200": { description: ok, ${content(`{ type: object, properties: { data: { type: array, items: ${schema} } } }`)} } }`,
      ),
  ],
  [
    'a map in an answer',
    (schema) =>
      sent(
        `responses: { "200": { description: ok, ${content(`{ type: object, additionalProperties: ${schema} }`)} } }`,
      ),
  ],
  [
    'a further answer',
    (schema) =>
      sent(`responses: { "200": { description: ok }, "202": { description: ok, ${content(schema)} } }`),
  ],
  [
    'an error',
    (schema) =>
      sent(`responses: { "200": { description: ok }, "4XX": { description: no, ${content(schema)} } }`),
  ],
  [
    'an event',
    (schema) =>
      `paths: {}\nwebhooks: { a.done: { post: { requestBody: { ${content(`{ type: object, properties: { data: ${schema} } }`)} }, ${ok} } } }`,
  ],
  [
    'a part of a component',
    (schema) => using('response', `X: { type: object, properties: { "in side": ${schema} } }`),
  ],
]

const INLINE = PLACES.flatMap(([where, document]) =>
  WRITTEN_OUT.map(
    ([what, old, next]) =>
      [
        `${what}, ${where}`,
        document(`{ type: object, ${old} }`),
        document(`{ type: object, ${next} }`),
      ] as const,
  ),
)

const drafts: Drafted[] = [
  ...ROWS.flatMap(([what, , , old, next]) =>
    (['request', 'response', 'event'] as const).flatMap((use) =>
      draftsOf(`${what}, ${use}`, using(use, old), using(use, next)),
    ),
  ),
  ...OPERATION_ROWS.flatMap(([what, old, next]) => [
    ...draftsOf(what, old, next),
    ...draftsOf(`${what}, back`, next, old),
  ]),
  ...[...MOVED, ...PROPOSED, ...INLINE].flatMap(([what, old, next]) => draftsOf(what, old, next)),
]

/** One program of all drafts; the types of each document are a file of their own. */
async function errorsOf(all: readonly Drafted[]): Promise<Map<string, string[]>> {
  const root = `${process.cwd()}/versions`
  const files = new Map<string, string>()
  const documents = new Map<Api, string>()
  const fileOf = async (api: Api): Promise<string> => {
    const known = documents.get(api)
    if (known) return known
    const name = `types-${documents.size}.ts`
    documents.set(api, name)
    files.set(
      `${root}/${name}`,
      `type Open<Known extends string> = Known | (string & {})\n${await printDocumentTypes(api.document)}`,
    )
    return name
  }
  const names = new Map<string, string>()
  for (const [index, { apis, lens, why, name }] of all.entries()) {
    const [old, next] = [await fileOf(apis[0]), await fileOf(apis[1])]
    const file = `${root}/draft-${index}.ts`
    names.set(file, `${name} ${lens}`)
    files.set(file, printDraft({ id: 'a', lens, why }, { old: `./${old}`, next: `./${next}` }))
  }
  const program = programOf(files)
  return new Map(
    [...names].flatMap(([file, name]): [string, string[]][] => {
      const found = program.getSemanticDiagnostics(program.getSourceFile(file))
      const told = found.map((each) => ts.flattenDiagnosticMessageText(each.messageText, ' ').slice(0, 200))
      return told.length > 0 ? [[name, told]] : []
    }),
  )
}

test('every draft compiles as it is written', async () => {
  expect(drafts.length).toBeGreaterThan(200)
  expect(await errorsOf(drafts)).toEqual(new Map())
})

const byPair = Map.groupBy(drafts, ({ apis }) => apis)

/** Runs a draft. A decision is undefined. */
function changeOf({ lens, name, apis }: Drafted): LoadedChange {
  const make = new Function('v', 'decide', `return [${lens}]`)
  const lenses = make(between(), () => undefined) as Lens[]
  return { id: name, why: '', lenses, version: apis[1].version, file: name }
}

test('every draft passes the gate once it is decided, with the others of its pair', () => {
  const left = [...byPair].flatMap(([apis, own]) => {
    const changes = own.map(changeOf)
    const found = checkSteps(claimSteps(apis, changes), { versions: 'versions', out: 'generated' })
    return found
      .filter(({ code }) => code !== 'change-lossy')
      .map(({ code, message }) => `${code}: ${message}`)
  })
  expect(left).toEqual([])
})

test('every draft that leaves no decision passes the proof as it is written', () => {
  let proven = 0
  const refuted = [...byPair].flatMap(([apis, own]) => {
    const changes = own.filter(({ lens, why }) => !/\bdecide\(/.test(lens + why)).map(changeOf)
    const laws = proveSteps(claimSteps(apis, changes)).filter(({ file }) => file !== undefined)
    proven += changes.length
    return laws.flatMap((law) => refute(law, { runs: 3, seed: 1 })?.message ?? [])
  })
  expect(refuted).toEqual([])
  expect(proven).toBeGreaterThan(50)
})

test('no draft for what is written out where it stands is to accept it', () => {
  const names = new Set<string>(INLINE.map(([what]) => what))
  const own = drafts.filter(({ name }) => names.has(name.slice(0, name.lastIndexOf(': '))))
  expect(own.filter(({ lens }) => lens.startsWith('v.accept')).map(({ name, lens }) => [name, lens])).toEqual(
    [],
  )
  expect(own.length).toBeGreaterThanOrEqual(60)
})

test('each code of the gate has a proposal', () => {
  const byCode = new Map<string, string>()
  for (const { codes, lens } of drafts)
    for (const code of codes) if (!byCode.has(code)) byCode.set(code, lens)
  const text = `${[...byCode]
    .map(([code, lens]) => `${code}: ${lens}`)
    .sort()
    .join('\n')}\n`
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(GOLDEN, text)
  expect(text).toBe(readFileSync(GOLDEN, 'utf8'))
})
