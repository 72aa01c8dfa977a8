/** What a server gets of a document: handlers typed by it, and checks of what arrives, generated as a family outside of this repository. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import type { Operation, Version } from '../../generators/runtime/contract.ts'

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
    '/ranged-stream': {
      get: {
        operationId: 'watch',
        responses: {
          '2XX': { description: 'OK', content: { 'text/event-stream': { schema: text } } },
        },
      },
    },
  },
  components: { schemas: { Book: object({ id: text, title: text }, ['id']) } },
}

/** Each line that ends in `// wrong` must have an error, and no other line may. */
const PROGRAM = `
import type { CreateInlineAnswer, CreateInlineBody, Handlers } from './out/canonical/handlers.ts'

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
}
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

let version: Version
const operation = (id: string): Operation => version.operations.find((each) => each.id === id)!

beforeAll(async () => {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('generators'), join(folder, 'node_modules/dateline'))
  writeFileSync(join(folder, '2030-01-01.json'), JSON.stringify(DOCUMENT))
  writeFileSync(
    join(folder, 'dateline.config.json'),
    JSON.stringify({
      documents: ['./2030-01-01.json'],
      out: './out',
      emit: ['types', 'validators', 'routes', 'translations', 'handlers'],
      strict: false,
    }),
  )
  const lines: string[] = []
  const argv = ['--config', join(folder, 'dateline.config.json'), 'generate', '--json']
  const code = await main(argv, { out: (line) => lines.push(line), error: (line) => lines.push(line) })
  if (code !== 0) throw new Error(lines.join('\n'))
  version = (await import(join(folder, 'out/2030-01-01/routes.ts'))).version
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
