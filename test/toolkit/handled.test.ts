/** What a server gets of a document: handlers typed by it, and checks of what arrives, generated as a family outside of this repository. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import type { Operation, Validate, Version } from '../../generators/runtime/contract.ts'
import { explain } from '../../generators/runtime/explain.ts'

const folder = mkdtempSync(join(tmpdir(), 'handled-'))
afterAll(() => rmSync(folder, { recursive: true }))

const json = (schema: object) => ({ 'application/json': { schema } })
const ok = (schema: object, status = '200') => ({ [status]: { description: 'OK', content: json(schema) } })
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  ...{ properties, required },
})
const text = { type: 'string' }
const body = (schema: object) => ({ requestBody: { required: true, content: json(schema) } })

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Handled', version: '2030-01-01' },
  paths: {
    '/inline': {
      post: {
        operationId: 'create-inline',
        ...body(object({ name: text }, ['name'])),
        responses: ok(object({ id: text }, ['id']), '201'),
      },
      get: { responses: ok({ type: 'array', items: ref('Book') }) },
    },
    '/unnamed/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: text }],
      put: { ...body(object({ size: { type: 'integer' } })), responses: ok(ref('Book')) },
    },
    '/range': { get: { operationId: 'getRange', responses: ok(object({ id: text }, ['id']), '2XX') } },
    '/batch': {
      post: {
        operationId: 'createBatch',
        ...body(
          object({ items: { type: 'array', 'x-judged': 'each', items: object({ name: text }, ['name']) } }),
        ),
        responses: ok(ref('Book')),
      },
    },
    '/accounts': {
      post: { operationId: 'createAccount', ...body(ref('Account')), responses: ok(ref('Account')) },
    },
    '/teams': { post: { operationId: 'createTeam', ...body(ref('Team')), responses: ok(ref('Team')) } },
    '/owners': { post: { operationId: 'createOwner', ...body(ref('Owner')), responses: ok(ref('Owner')) } },
    '/odd': {
      post: {
        operationId: 'createOdd',
        requestBody: { $ref: '#/components/requestBodies/Odd' },
        responses: ok(
          object({ token: { ...text, writeOnly: true }, at: { ...text, readOnly: true } }, ['token', 'at']),
        ),
      },
    },
    '/ranged-stream': {
      get: {
        operationId: 'watch',
        responses: {
          '2XX': { description: 'OK', content: { 'text/event-stream': { schema: text } } },
        },
      },
    },
  },
  components: {
    requestBodies: { Odd: { required: true, content: json(ref('Odd')) } },
    schemas: {
      Book: object({ id: text, title: text }, ['id']),
      Account: {
        ...object({ id: { ...text, readOnly: true }, secret: { ...text, writeOnly: true }, name: text }, [
          'id',
          'secret',
          'name',
        ]),
        additionalProperties: false,
      },
      Made: { type: 'string', readOnly: true },
      Team: {
        allOf: [
          object({
            made: ref('Made'),
            accounts: { type: 'array', items: ref('Account') },
            above: ref('Team'),
          }),
          { required: ['made', 'accounts'] },
        ],
      },
      Owner: { oneOf: [ref('Person'), ref('Company')], discriminator: { propertyName: 'kind' } },
      Person: object({ kind: { const: 'Person' }, account: ref('Account') }, ['kind', 'account']),
      Company: object({ kind: text, team: ref('Team') }, ['kind', 'team']),
      Odd: {
        ...object({ id: { ...text, readOnly: true }, account: ref('Account') }, ['id']),
        not: { required: ['no'] },
      },
      AccountRequest: text,
    },
  },
}

/** Each line that ends in `// wrong` must have an error, and no other line may. */
const PROGRAM = `
import type { CreateInlineAnswer, CreateInlineBody, Handlers } from './one/out/canonical/handlers.ts'

import type { components } from './one/out/canonical/types.ts'
type Schemas = components['schemas']

const given: CreateInlineBody = { name: 'a' }
const answered: CreateInlineAnswer = { id: given.name }
answered.name // wrong
const handlers: Handlers<object> = {
  async 'create-inline'(_, { body }) {
    body.title // wrong
    return { status: 201, body: { id: body.name } }
  },
  async getInline() {
    return { status: 200, body: [{ id: 'a' }] }
  },
  async 'putUnnamedId'(_, { path, body }) {
    return { status: 200, body: { id: path.id, title: String(body.size?.toFixed()) } }
  },
  async getRange() { // wrong
    return { status: 200, body: { id: 1 } }
  },
  async createBatch(_, { items }) {
    const [first] = items
    return { status: 200, body: { id: first?.valid ? first.value.name : '' } }
  },
  async *watch() {}, // wrong
  async createAccount(_, { body }) {
    body.id // wrong
    return { status: 200, body: { id: body.secret, name: body.name } }
  },
  async createTeam(_, { body }) {
    body.made // wrong
    body.above?.accounts?.[0]?.id // wrong
    return { status: 200, body: { made: body.accounts?.[0]?.secret ?? '', accounts: [] } }
  },
  async createOwner(_, { body }) {
    const account = body.kind === 'Person' ? body.account : body.team.accounts?.[0]
    return { status: 200, body: { kind: 'Person', account: { id: '', name: account?.name ?? '' } } }
  },
  async createOdd(_, { body }) {
    body.id // wrong
    return { status: 200, body: { at: body.account?.secret ?? '' } }
  },
}
const asked: Schemas['AccountRequest_2'] = { secret: 's', name: 'n' }
const other: Schemas['AccountRequest'] = 'text'
export default handlers
`

function compile(): string[] {
  const file = join(folder, 'program.ts')
  writeFileSync(file, PROGRAM)
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    types: [],
  })
  return ts.getPreEmitDiagnostics(program).map(({ file: at, start = 0, messageText }) => {
    const line = at ? at.getLineAndCharacterOfPosition(start).line : 0
    const shown = at?.fileName === file ? (PROGRAM.split('\n')[line]?.trim() ?? '') : (at?.fileName ?? '')
    return shown.endsWith('// wrong')
      ? shown
      : `${shown}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

/** Generates from the documents, each of its own version. @returns the folder of what is generated. */
async function generate(name: string, documents: readonly { info: { version: string } }[], change?: string) {
  const at = join(folder, name)
  mkdirSync(join(at, 'versions/2030-06-01'), { recursive: true })
  for (const each of documents) writeFileSync(join(at, `${each.info.version}.json`), JSON.stringify(each))
  if (change !== undefined) writeFileSync(join(at, 'versions/2030-06-01/change-account.ts'), change)
  writeFileSync(
    join(at, 'dateline.config.json'),
    JSON.stringify({
      documents: documents.map(({ info }) => `./${info.version}.json`),
      ...(change !== undefined && { versions: './versions' }),
      out: './out',
      emit: ['types', 'validators', 'routes', 'translations', 'handlers'],
      strict: false,
    }),
  )
  const lines: string[] = []
  const argv = ['--config', join(at, 'dateline.config.json'), 'generate', '--json']
  const code = await main(argv, { out: (line) => lines.push(line), error: (line) => lines.push(line) })
  if (code !== 0) throw new Error(lines.join('\n'))
  return join(at, 'out')
}

let version: Version
let validators: Readonly<Record<string, Validate>>
const operation = (id: string): Operation => version.operations.find((each) => each.id === id)!

beforeAll(async () => {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('generators'), join(folder, 'node_modules/dateline'))
  const out = await generate('one', [DOCUMENT])
  version = (await import(join(out, '2030-01-01/routes.ts'))).version
  validators = await import(join(out, '2030-01-01/validators.js'))
}, 60_000)

test('handlers are typed by bodies and answers, be they named or written out', () => {
  const wrong = PROGRAM.split('\n').filter((line) => line.endsWith('// wrong'))
  expect(compile()).toEqual(wrong.map((line) => line.trim()))
}, 60_000)

test('an answer of a range is one of 200', () => {
  expect([operation('getRange').status, operation('watch').status, operation('watch').stream]).toEqual([
    200,
    200,
    true,
  ])
})

const account = { secret: 's', name: 'n' }

test.each<readonly [string, unknown, boolean]>([
  ['createAccount', account, true],
  ['createAccount', { ...account, id: 'sent back' }, true],
  ['createAccount', { ...account, id: 1 }, false],
  ['createAccount', { id: 'a', name: 'n' }, false],
  ['createAccount', { ...account, other: 1 }, false],
  ['createTeam', { accounts: [account] }, true],
  ['createTeam', { accounts: [{ name: 'n' }] }, false],
  ['createTeam', { accounts: [], above: { accounts: [account] } }, true],
  ['createTeam', {}, false],
  ['createOwner', { kind: 'Person', account }, true],
  ['createOwner', { kind: 'Company', team: { accounts: [account] } }, true],
  ['createOwner', { kind: 'Company', account }, false],
  ['createOdd', { account }, true],
  ['createOdd', { account, no: 1 }, false],
  ['createOdd', { account: { name: 'n' } }, false],
])('the validator of %s judges %j: %j', (id, value, fits) => {
  const { validate, pointer } = operation(id).body!
  expect(validate(value)).toBe(fits)
  expect(explain(DOCUMENT, pointer, value, {}).length === 0).toBe(fits)
})

test.each<readonly [string, unknown, boolean]>([
  ['Account', { id: 'a', name: 'n' }, true],
  ['Account', { secret: 's', name: 'n' }, false],
  ['Team', { made: 'now', accounts: [{ id: 'a', name: 'n' }] }, true],
  ['Team', { accounts: [] }, false],
])('an answer of %s may be %j: %j', (name, value, fits) => {
  expect(validators[name]!(value)).toBe(fits)
})

const CHANGE = `export default {
  id: 'change-account',
  why: 'Accounts have keys',
  lenses: [
    { kind: 'rename', schemas: ['Account'], from: 'id', to: 'key' },
    { kind: 'convert', schemas: ['Account'], property: 'pin', up: (pin) => Number(pin), down: (pin) => String(pin) },
    { kind: 'convert', schemas: ['Account'], property: 'at', up: (at) => at.toUpperCase(), down: (at) => at.toLowerCase() },
  ],
}
`

test('translations leave out what does not travel in their direction', async () => {
  const family = (at: string, key: string, pin: object) => ({
    openapi: '3.1.0',
    info: { title: 'Access', version: at },
    paths: {
      '/': { post: { operationId: 'create', ...body(ref('Account')), responses: ok(ref('Account')) } },
    },
    components: {
      schemas: {
        Account: object(
          {
            [key]: { ...text, readOnly: true },
            at: { type: 'string', readOnly: true, maxLength: at === '2030-01-01' ? 9 : 8 },
            pin: { ...pin, writeOnly: true },
          },
          [key, 'at', 'pin'],
        ),
      },
    },
  })
  const digits = { type: 'string', pattern: '^[0-9]{1,6}$' }
  const documents = [family('2030-01-01', 'id', digits), family('2030-06-01', 'key', { type: 'number' })]
  const out = await generate('two', documents, CHANGE)
  const { version: old } = (await import(join(out, '2030-01-01/routes.ts'))) as { version: Version }
  const [{ upBody, down, body: accepted } = {} as Operation] = old.operations
  expect(accepted?.validate({ pin: '1' })).toBe(true)
  const sent = (value: unknown) => JSON.parse(JSON.stringify(value))
  expect(sent(upBody?.({ pin: '1' } as never))).toEqual({ pin: 1 })
  expect(sent(down?.({ key: 'a', at: 'NOON' } as never))).toEqual({ id: 'a', at: 'noon' })
}, 60_000)
