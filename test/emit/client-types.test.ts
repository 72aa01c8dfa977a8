/** What is written against the package and is wrong does not compile; what is right does. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { emitClient } from '../../generators/emit/client/client.ts'
import { emitTypes, printTypes } from '../../generators/emit/types/types.ts'
import { read } from '../ir/document.ts'

const DOCUMENT = `
paths:
  /things:
    post:
      operationId: createThing
      parameters:
        - { name: Idempotency-Key, in: header, required: true, schema: { type: string } }
        - { name: Api-Version, in: header, schema: { type: string } }
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/ThingCreate' } } } }
      responses: { '201': { description: Made, content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } } } }
    get:
      operationId: listThings
      x-pagination: cursor
      parameters: [{ name: limit, in: query, schema: { type: integer } }, { name: 'created[gte]', in: query, schema: { type: string } }]
      responses: { '200': { description: Page, content: { application/json: { schema: { $ref: '#/components/schemas/ThingList' } } } } }
  /things/{thing_id}:
    get:
      operationId: getThing
      parameters: [{ name: thing_id, in: path, required: true, schema: { type: string } }]
      responses: { '200': { description: Thing, content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } } } }
    delete:
      operationId: deleteThing
      parameters: [{ name: thing_id, in: path, required: true, schema: { type: string } }, { name: X-Why, in: header, required: true, schema: { type: string } }]
      responses: { '204': { description: Gone } }
  /watch:
    get:
      operationId: watchThings
      responses: { '200': { description: Events, content: { text/event-stream: { schema: { type: string } } } } }
components:
  schemas:
    ThingCreate: { type: object, additionalProperties: false, required: [name], properties: { name: { type: string }, size: { type: integer, default: 1 } } }
    Thing:
      type: object
      required: [id, name, state]
      properties:
        id: { type: string }
        name: { type: string }
        size: { type: integer }
        state: { $ref: '#/components/schemas/State' }
        side: { type: string, enum: [left, right] }
    State: { type: string, x-extensible: true, enum: [new, used] }
    ThingList: { type: object, required: [data, has_more], properties: { data: { type: array, items: { $ref: '#/components/schemas/Thing' } }, has_more: { type: boolean } } }
    Error: { type: object, properties: { error: { type: object, properties: { type: { enum: [not_found] } } } } }
`

/** Each line that ends in \`// wrong\` must have an error, and no other line may. */
const USE = `
import { type Client, connect, createClient, type ListThingsQuery, ResponseError, type Schemas, type Thing } from './client/src/2030-01-01/index.ts'
import { createThing, listThings } from './client/src/2030-01-01/functions.ts'
import type { components } from './2030-01-01/types.ts'

const client: Client = createClient({ baseUrl: 'http://127.0.0.1', apiKey: 'key' })
createClient({ apiKey: 'key' }) // wrong
createClient({ baseUrl: '', apikey: 'key' }) // wrong

const made: Schemas['Thing'] = await client.createThing({ body: { name: 'n' } })
await client.createThing({ body: { name: 'n', size: 1 }, idempotencyKey: 'k', signal: AbortSignal.timeout(1) })
await client.createThing({ body: { name: 'n' } }).withResponse().then(({ data, response }) => [data.id, response.status])
const flat: Thing = await createThing(connect({ baseUrl: '' }), { name: 'n' }, { idempotencyKey: 'k' })
const query: ListThingsQuery = { limit: 1, 'created[gte]': flat.id }
for await (const each of listThings(connect({ baseUrl: '' }), query)) each.name.trim()
await createThing({ name: 'n' }) // wrong
await createThing(connect({ baseUrl: '' }), {}) // wrong
await client.things.create({ name: 'n', size: 1 }, { timeout: 1 }).asResponse()
for await (const each of client.things.list({ limit: 1 })) (await client.things.retrieve(each.id)).name.trim()
await client.things.delete('t', { headers: { 'X-Why': 'old' } })
await client.things.create({}) // wrong
await client.things.delete('t') // wrong
await client.things.retrieve() // wrong
await client.createThing() // wrong
await client.createThing({}) // wrong
await client.createThing({ body: {} }) // wrong
await client.createThing({ body: { name: 1 } }) // wrong
await client.createThing({ body: { name: 'n', colour: 'red' } }) // wrong
await client.createThing({ body: { name: 'n' }, header: { 'Idempotency-Key': 'k' } }) // wrong
await client.createThing({ body: { name: 'n' }, path: { thing_id: 'a' } }) // wrong
made.size.toFixed() // wrong
made.colour // wrong
made.state = 'new'
made.state = 'worn out' // a state of tomorrow
made.side = 'top' // wrong
const known: 'new' | 'used' = made.state // wrong

const served: components['schemas']['Thing'] = { id: '', name: '', state: 'new' }
served.state = 'worn out' // wrong
served.side = 'top' // wrong
served.name = 'any'
served satisfies Schemas['Thing']
made satisfies components['schemas']['Thing'] // wrong

await client.getThing({ path: { thing_id: 'a' } })
await client.getThing({ path: { thing_id: 'a' }, idempotencyKey: 'k' }) // wrong
await client.getThing({ path: {} }) // wrong
await client.getThing({ path: { id: 'a' } }) // wrong

await client.deleteThing({ path: { thing_id: 'a' }, header: { 'X-Why': 'because' } })
await client.deleteThing({ path: { thing_id: 'a' } }) // wrong
const nothing: undefined = await client.deleteThing({ path: { thing_id: 'a' }, header: { 'X-Why': '' } })

for await (const thing of client.listThings({ query: { limit: 1, 'created[gte]': '2030-01-01' } })) thing.name.trim()
for await (const page of client.listThings().pages()) page.data.length
for await (const thing of client.listThings()) thing.colour // wrong
for await (const thing of client.getThing({ path: { thing_id: 'a' } })) void thing // wrong
const first: readonly Schemas['Thing'][] = (await client.listThings()).data
await client.listThings({ query: { limit: '1' } }) // wrong
await client.listThings({ query: { offset: 1 } }) // wrong

const reader: ReadableStreamDefaultReader<Uint8Array> = (await client.watchThings()).getReader()
client.removeThing() // wrong

try {
  await client.getThing({ path: { thing_id: 'a' } })
} catch (error) {
  if (error instanceof ResponseError) error.code?.trim()
  if (error instanceof ResponseError) error.code.trim() // wrong
}
export { first, nothing, reader }
`

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join('test/emit', '.client-'))
  const { api } = read(DOCUMENT)
  const types = await printTypes([api])
  const config = { package: { name: 'things', version: '1.0.0' } }
  const files = emitClient([api], types.mapped, config, { versionHeader: 'Api-Version' })
  for (const { path, text } of [...files, ...emitTypes([api], types, true), { path: 'use.ts', text: USE }]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Under the settings that the package is built with. @returns `file:line` of every error. */
function compile(): string[] {
  const settings = ts.readConfigFile(join(folder, 'client/tsconfig.json'), ts.sys.readFile).config
  const { options } = ts.convertCompilerOptionsFromJson(settings.compilerOptions, folder)
  const { rootDir: _, outDir: __, ...rest } = options
  const program = ts.createProgram([join(folder, 'use.ts')], { ...rest, noEmit: true })
  return ts.getPreEmitDiagnostics(program).map(({ file, start = 0 }) => {
    const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0
    return `${file?.fileName.split('/').pop()}:${line}`
  })
}

test('misuse is an error on its line, and nothing else is', () => {
  const wrong = USE.split('\n').flatMap((line, index) =>
    line.endsWith('// wrong') ? [`use.ts:${index + 1}`] : [],
  )
  expect(wrong.length).toBeGreaterThan(15)
  expect([...new Set(compile())]).toEqual(wrong)
}, 60_000)
