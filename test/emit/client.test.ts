/** What the package holds: from operations of small documents to rows, signatures and files. */

import { expect, test } from 'vitest'
import { emitClient } from '../../generators/emit/client/client.ts'
import type { ClientConfig } from '../../generators/emit/client/config.ts'
import type { Api } from '../../generators/ir/model.ts'
import { read } from '../ir/document.ts'

const CONFIG: ClientConfig = { package: { name: 'things', version: '1.2.3', license: 'MIT' } }

function emit(apis: readonly Api[], config: ClientConfig = CONFIG): ReadonlyMap<string, string> {
  const types = new Map(apis.map(({ version }) => [version, `// types of ${version}\n`]))
  const files = emitClient(apis, types, config, { versionHeader: 'Api-Version' })
  return new Map(files.map(({ path, text }) => [path, text]))
}

/** What a version's file of functions says of its one operation: the type of its input, its signature, its call. */
function linesOf(paths: string, config?: ClientConfig): string[] {
  const { api } = read(`paths:\n  ${paths}\n`)
  const functions = emit([api], config).get('client/src/2030-01-01/functions.ts') ?? ''
  return functions.split('\n').filter((line) => /^(?:export| {2}return) /.test(line))
}

const ok =
  "responses: { '200': { description: OK, content: { application/json: { schema: { type: object } } } } }"
const key = '{ name: Idempotency-Key, in: header, required: true, schema: { type: string } }'
const version = '{ name: Api-Version, in: header, required: true, schema: { type: string } }'
const body = 'requestBody: { required: true, content: { application/json: { schema: { type: object } } } }'

test.each([
  {
    given: `/me: { get: { operationId: getMe, ${ok} } }`,
    want: [
      "export function getMe(connection: ServiceConnection, options?: RequestOptions): Result<operations['getMe']> {",
      "  return call(connection, { method: 'GET', path: '/me' }, options)",
    ],
  },
  {
    given: `/things: { post: { operationId: createThing, parameters: [${key}, ${version}], ${body}, ${ok} } }`,
    want: [
      "export function createThing(connection: ServiceConnection, params: RequestBodyOf<operations['createThing']>, options?: RequestOptions): Result<operations['createThing']> {",
      "  return call(connection, { method: 'POST', path: '/things', keyed: true }, { body: params, ...options })",
    ],
  },
  {
    given: `/ping: { post: { operationId: ping, parameters: [${key}, ${version}], ${ok} } }`,
    want: [
      "export function ping(connection: ServiceConnection, options?: RequestOptions): Result<operations['ping']> {",
      "  return call(connection, { method: 'POST', path: '/ping', keyed: true }, options)",
    ],
  },
  {
    given: `/things: { get: { operationId: listThings, x-pagination: cursor, ${ok} } }`,
    want: [
      "export function listThings(connection: ServiceConnection, options?: RequestOptions): ListResult<operations['listThings'], 'data'> {",
      "  return list(connection, { method: 'GET', path: '/things' }, options)",
    ],
  },
  {
    given: `/w: { get: { operationId: watch, responses: { '200': { description: OK, content: { text/event-stream: {} } } } } }`,
    want: [
      "export function watch(connection: ServiceConnection, options?: RequestOptions): Result<operations['watch']> {",
      "  return call(connection, { method: 'GET', path: '/w', streamed: true }, options)",
    ],
  },
  {
    given: `/f: { put: { operationId: sendForm, requestBody: { content: { application/x-www-form-urlencoded: {} } }, ${ok} } }`,
    want: [
      "export function sendForm(connection: ServiceConnection, params?: RequestBodyOf<operations['sendForm']>, options?: RequestOptions): Result<operations['sendForm']> {",
      "  return call(connection, { method: 'PUT', path: '/f', media: 'application/x-www-form-urlencoded', encode: encodeForm }, { body: params, ...options })",
    ],
  },
  {
    given: `/plain/{id}: { get: { parameters: [{ name: id, in: path, required: true, schema: { type: string } }], ${ok} } }`,
    want: [
      "export function getPlainId(connection: ServiceConnection, id: string, options?: RequestOptions): Result<operations['getPlainId']> {",
      "  return call(connection, { method: 'GET', path: '/plain/{id}' }, { path: { id }, ...options })",
    ],
  },
  {
    given: `/odd: { get: { operationId: "it's.odd", ${ok} } }`,
    want: [
      "export function it_s_odd(connection: ServiceConnection, options?: RequestOptions): Result<operations['it\\'s.odd']> {",
      "  return call(connection, { method: 'GET', path: '/odd' }, options)",
    ],
  },
])('the client has the row $want.1', ({ given, want }) => {
  expect(linesOf(given)).toEqual(want)
})

test('a bare reference gives a function the name of the schema, in what it answers and in the items of a list', () => {
  const { api } = read(`paths:
  /things: { get: { operationId: listThings, x-pagination: cursor, responses: { '200': { description: OK, content: { application/json: { schema: { $ref: '#/components/schemas/ThingList' } } } } } } }
  /thing: { get: { operationId: getThing, responses: { '200': { description: OK, content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } } } } } }
components:
  schemas:
    Thing: { type: object }
    ThingList: { type: object, properties: { data: { type: array, items: { $ref: '#/components/schemas/Thing' } } } }
`)
  const functions = emit([api]).get('client/src/2030-01-01/functions.ts')
  expect(functions).toContain('options?: RequestOptions): ListCall<ThingList, Thing> {')
  expect(functions).toContain('options?: RequestOptions): Call<Thing> {')
})

test('an operation whose id is no identifier is a method of the client under its id', () => {
  const { api } = read(`paths:\n  /odd: { get: { operationId: "it's.odd", ${ok} } }\n`)
  const files = emit([api])
  expect(files.get('client/src/2030-01-01/flat.ts')).toContain("['it\\'s.odd', functions.it_s_odd],")
  expect(files.get('client/src/2030-01-01/resources.ts')).toContain(
    'functions.it_s_odd(this.connection, options)',
  )
})

test('nothing of a document ends a comment or a string early', () => {
  const { api } = read(`paths:
  /x:
    get: { operationId: x, summary: "*/ export const bad = 1 /*", description: "\`\${bad}\`", ${ok} }
`)
  const functions = emit([api]).get('client/src/2030-01-01/functions.ts') ?? ''
  expect(functions).toContain('bad = 1')
  expect(functions).not.toContain('*/ export')
  const constants = functions.split('\n').filter((line) => /^\s*export const/.test(line))
  expect(constants).toEqual([])
})

test('lists can be walked from the version on that the configuration names', () => {
  const list = `paths: { /things: { get: { operationId: listThings, x-pagination: cursor, ${ok} } } }\n`
  const versions = ['2029-01-01', '2030-01-01', '2031-01-01']
  const apis = versions.map(
    (name) => read(list, `openapi: 3.1.0\ninfo: { title: T, version: ${name} }\n`).api,
  )
  const files = emit(apis, { ...CONFIG, walkSince: '2030-01-01' })
  const walked = versions.map((name) => files.get(`client/src/${name}/functions.ts`)?.includes('ListResult<'))
  expect(walked).toEqual([false, true, true])
})

test('the client has one class for each type of error that any version knows', () => {
  const error = (types: string) => `
paths:
  /x: { get: { operationId: x, responses: { '400': { description: No, content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } } } } } }
components:
  schemas:
    Error: { type: object, properties: { error: { $ref: '#/components/schemas/Inside' } } }
    Inside: { type: object, properties: { type: { type: string, enum: ${types} } } }
`
  const apis = [read(error('[not_found, api_error]')).api, read(error('[not_found, response_error, 3d]')).api]
  const text = emit(apis).get('client/src/errors.ts') ?? ''
  expect([...text.matchAll(/^export class (\w+)/gm)].map(([, name]) => name)).toEqual([
    'NotFoundError',
    'ApiError',
    'ResponseError2',
    '_3dError',
  ])
  expect(text).toContain("  '3d': _3dError,\n")
})

test('an API without any error schema has a package all the same', () => {
  const text = emit([read('paths: {}\n').api]).get('client/src/errors.ts') ?? ''
  expect(text).toContain('export const errorClasses = {\n} satisfies ErrorClasses')
})

test('the package names its versions, its one dependency, and what the configuration adds', () => {
  const files = emit([read('paths: {}\n').api])
  expect(JSON.parse(files.get('client/package.json') ?? '')).toMatchObject({
    name: 'things',
    version: '1.2.3',
    license: 'MIT',
    type: 'module',
    exports: {
      './2030-01-01': {
        import: { types: './dist/2030-01-01/index.d.ts', default: './dist/2030-01-01/index.js' },
        require: { types: './dist/cjs/2030-01-01/index.d.ts', default: './dist/cjs/2030-01-01/index.js' },
      },
    },
    dependencies: { 'openapi-fetch': expect.stringMatching(/^\d/) },
  })
  expect(files.get('client/src/2030-01-01/types.ts')).toBe('// types of 2030-01-01\n')
})

test.each([
  [
    '{ bearer: { type: http, scheme: bearer } }',
    "schemes: { bearer: { in: 'header', name: 'Authorization', prefix: 'Bearer ' } },",
  ],
  [
    '{ key: { type: apiKey, in: header, name: X-Key } }',
    "schemes: { key: { in: 'header', name: 'X-Key' } },",
  ],
  ['{ key: { type: apiKey, in: query, name: key } }', "schemes: { key: { in: 'query', name: 'key' } },"],
  [
    '{ o: { type: oauth2, flows: {} } }',
    "schemes: { o: { in: 'header', name: 'Authorization', prefix: 'Bearer ' } },",
  ],
  ['{ m: { type: mutualTLS } }', undefined],
  ['{}', undefined],
])('the client has a row for the security scheme %s', (schemes, want) => {
  const { api } = read(`paths: {}\ncomponents: { securitySchemes: ${schemes} }\n`)
  const index = emit([api]).get('client/src/2030-01-01/index.ts') ?? ''
  expect(
    index
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line.startsWith('schemes')),
  ).toBe(want)
})

test('hovers name the classes that an operation is refused with, by the examples of its document', () => {
  const refusal = (type: string) =>
    `{ description: No, content: { application/json: { schema: { $ref: '#/components/schemas/Refusal' }, example: { error: { type: ${type}, code: no } } } } }`
  const { api } = read(`paths:
  /things: { get: { operationId: listThings, ${ok.slice(0, -1)}, '404': ${refusal('not_found')}, '409': ${refusal('unheard_of')} } } }
components:
  schemas:
    Refusal: { type: object, properties: { error: { type: object, properties: { type: { enum: [not_found] } } } } }
`)
  const functions = emit([api]).get('client/src/2030-01-01/functions.ts')
  expect(functions).toContain(' * @throws {NotFoundError | ResponseError}\n')
})
