/** Families that are not ours: whatever their documents are like, output stands alone, and what is left out is said. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import { loadValidators, typeErrors } from './standing.ts'
import { makeDocument, versionName } from './synthetic.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join('test/toolkit', '.families-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function generate(config: Record<string, unknown>) {
  const lines: string[] = []
  const file = join(folder, 'dateline.config.json')
  writeFileSync(file, JSON.stringify({ out: './out', ...config }))
  const print = (line: string) => void lines.push(line)
  const code = await main(['--config', file, 'generate'], { out: print, error: print })
  return { code, said: lines.join('\n'), out: join(folder, 'out') }
}

const CLIENT = { package: { name: 'odd', version: '1.0.0' } }

test('code is generated from numbered 3.0 documents in JSON', async () => {
  const documents = '../../golden/family-numbered/openapi'
  const { code, said, out } = await generate({ documents, client: CLIENT })
  expect(code, said).toBe(0)
  expect(typeErrors(out)).toEqual([])
  const checks = await loadValidators(out, 'v10')
  const berth = { id: 1, depth: 12.5 }
  expect(checks.Berth!(berth)).toBe(true)
  expect(checks.Berth!({ ...berth, depth: 0 })).toBe(false)
  expect(checks.Berth!({ ...berth, note: null, ship: null, neighbour: berth })).toBe(true)
  expect(checks.Berth!({ ...berth, neighbour: { ...berth, neighbour: 3 } })).toBe(false)
  expect(checks.AnyShip!({ kind: 'ferry', name: 'Ana', seats: 3 })).toBe(true)
  expect(checks.AnyShip!({ kind: 'tug', name: 'Rui' })).toBe(true)
  expect(checks.AnyShip!({ kind: 'ferry', name: 'Ana' })).toBe(false)
  expect(checks.AnyShip!({ kind: 'raft', name: 'Ana' })).toBe(false)
  for (const kept of ['callbacks-ignored', 'links-ignored']) expect(said).toContain(kept)
})

test('a family generates names that are no identifiers, or mean something else', async () => {
  const { code, said, out } = await generate({
    documents: ['../../golden/family-odd/openapi/odd.yaml'],
    client: CLIENT,
  })
  expect(code, said).toBe(0)
  expect(typeErrors(out)).toEqual([])
  const checks = await loadValidators(out, '2030-01-01')
  // Of every object, the compiler thinks.
  const thing = new Map(Object.entries(checks)).get('toString')!
  const account = { id: 'a', constructor: 'x' }
  expect(checks.account_id!(account)).toBe(true)
  expect(checks.account_id!({ id: 'a' })).toBe(false)
  expect(checks.account_id!(JSON.parse('{"id":"a","constructor":"x","__proto__":true}'))).toBe(true)
  expect(checks.account_id!(JSON.parse('{"id":"a","constructor":"x","__proto__":3}'))).toBe(false)
  expect(checks.account_id_2!('abc')).toBe(true)
  expect(thing({ narrowed: 'abcd' })).toBe(false)
  expect(thing({ narrowed: 'abc', own: { colour: 'red' }, tuple: ['a', 1] })).toBe(true)
  expect(thing({ tuple: ['a', 1, 2] })).toBe(false)
  expect(checks.constructor!({ any: 'never' })).toBe(true)
  expect(checks.Shape!({ kind: 'Square', side: 1 })).toBe(true)
  expect(checks.Shape!({ kind: 'Square', side: 'x' })).toBe(false)
})

test('code is generated from a megabyte and more: hundreds of operations in two versions', async () => {
  const documents = [0, 1].map((version) => {
    const file = `${versionName(version)}.json`
    writeFileSync(
      join(folder, file),
      JSON.stringify(makeDocument({ resources: 120, version, words: 9 }), null, 1),
    )
    return `./${file}`
  })
  expect(statSync(join(folder, '2020-01-01.json')).size).toBeGreaterThan(1_000_000)
  const { code, said, out } = await generate({ documents })
  expect(code, said.slice(0, 2000)).toBe(0)
  expect(typeErrors(out)).toEqual([])
  const checks = await loadValidators(out, '2020-01-02')
  const charge = { id: 'ch_1', object: 'charge', created: 1, details: { type: 'charge_card', last4: '4242' } }
  expect(checks.charge!(charge)).toBe(true)
  expect(checks.charge!({ ...charge, parent: { ...charge, object: 'plan' } })).toBe(false)
  expect(checks.charge!({ ...charge, details: { type: 'charge_card' } })).toBe(false)
  const sizes = ['2020-01-01', '2020-01-02'].map(
    (version) => statSync(join(out, version, 'validators.js')).size,
  )
  expect(sizes[0]).toBeLessThan(statSync(join(out, 'validators.js')).size)
}, 90_000)

const json = (schema: string) => `content: { application/json: { schema: ${schema} } }`
const ref = (name: string) => `{ $ref: '#/components/schemas/${name}' }`
const answering = (schema: string) => `responses: { '200': { description: ok, ${json(schema)} } }`

/** Both versions of a family of which the newer one gives ids to operations that had none. */
function writeVersions(text: (id: (name: string) => string) => string) {
  mkdirSync(join(folder, 'openapi'))
  const head = (version: string) => `openapi: 3.1.0\ninfo: { title: Test, version: ${version} }\n`
  const write = (version: string, id: (name: string) => string) =>
    writeFileSync(join(folder, `openapi/${version}.yaml`), head(version) + text(id))
  write('2030-01-01', () => '')
  write('2030-06-01', (name) => `operationId: ${name}, `)
}

const SERVED = {
  documents: './openapi',
  versions: './versions',
  // The command of upgrades is the same in every client, and the compiler reads ts-morph for it.
  client: { ...CLIENT, upgrade: false },
  emit: ['types', 'validators', 'routes', 'translations', 'handlers', 'client'],
}

test('operations that gain their ids: others, or those that they had been called by', async () => {
  const item = 'parameters: [{ name: id, in: path, required: true, schema: { type: string } }]'
  const filter = 'parameters: [{ name: q, in: query, schema: { type: string }, x-filter: equality }]'
  writeVersions(
    (id) => `paths:
  /things:
    get: { ${id('listThings')}${filter}, ${answering('{ type: array, items: { type: string } }')} }
    post: { requestBody: { ${json(ref('Thing'))} }, ${answering(ref('Thing'))} }
    put: { ${id('putThings')}${filter}, requestBody: { ${json(ref('Thing'))} }, ${answering(ref('Thing'))} }
  /things/{id}:
    ${item}
    get: { ${answering(ref('Thing'))} }
    put: { ${id('replaceThing')}requestBody: { ${json(ref('Thing'))} }, ${answering(ref('Thing'))} }
components: { schemas: { Thing: { type: object, properties: { a: { type: string } } } } }
`,
  )
  const { code, said, out } = await generate(SERVED)
  expect(code, said).toBe(0)
  expect(typeErrors(out)).toEqual([])
})

test('ids of operations that are no names of members', async () => {
  const ids = ['get_files_id#avatar', 'put/files~1id%23x', "it's", 'operation_1_', 'a b', 'é', '*/ x']
  writeVersions(
    () => `paths:
${ids.map((id, index) => `  /a${index}/{id}: { post: { operationId: ${JSON.stringify(id)}, description: operation_0_, parameters: [{ name: id, in: path, required: true, schema: { type: string } }, { name: q, in: query, schema: { type: string }, x-filter: equality }], requestBody: { ${json(ref('Thing'))} }, ${answering(ref('Thing'))} } }`).join('\n')}
components: { schemas: { Thing: { type: object, properties: { a: { type: string } } } } }
`,
  )
  const { code, said, out } = await generate(SERVED)
  expect(code, said).toBe(0)
  expect(typeErrors(out)).toEqual([])
  const types = readFileSync(join(out, 'client/src/2030-06-01/types.ts'), 'utf8')
  expect(types).toContain('"get_files_id#avatar": {')
})

const RECURSIVE: Readonly<Record<string, string>> = {
  List: `{ type: array, items: ${ref('List')} }`,
  TextOrList: `{ oneOf: [{ type: string }, { type: array, items: ${ref('TextOrList')} }] }`,
  ListOrNull: `{ type: [array, "null"], items: ${ref('ListOrNull')} }`,
  Positions: `{ type: array, prefixItems: [{ type: string }, ${ref('Positions')}] }`,
  One: `{ anyOf: [${ref('Others')}, { type: string }] }`,
  Others: `{ type: array, items: ${ref('One')} }`,
  Text: `{ anyOf: [${ref('Number')}, { type: string }] }`,
  Number: `{ anyOf: [${ref('Text')}, { type: number }] }`,
  Parent: `{ type: object, required: [k], discriminator: { propertyName: k, mapping: { c: '#/components/schemas/Child' } }, oneOf: [${ref('Child')}], properties: { k: { type: string } } }`,
  Child: `{ allOf: [${ref('Parent')}, { type: object, properties: { inner: ${ref('Parent')} } }] }`,
  Nullable: `{ type: [object, "null"], properties: { a: ${ref('Required')} } }`,
  Required: `{ anyOf: [{ allOf: [${ref('Nullable')}], required: [a] }, { type: 'null' }] }`,
}

test('types of what is a list, a union or a part of itself', async () => {
  const names = Object.keys(RECURSIVE)
  writeVersions(
    () => `paths:
${names.map((name) => `  /${name}: { post: { operationId: post${name}, requestBody: { ${json(ref(name))} }, ${answering(ref(name))} } }\n`).join('')}
components: { schemas: { ${Object.entries(RECURSIVE).map((each) => each.join(': '))} } }
`,
  )
  const { code, said, out } = await generate(SERVED)
  expect(code, said).toBe(0)
  const uses = names.map(
    (name) => `export const ${name}: 0 extends 1 & Schemas['${name}'] ? true : false = false`,
  )
  const head =
    "import type { components } from './client/src/2030-06-01/types.ts'\ntype Schemas = components['schemas']"
  // None of them is `any`.
  writeFileSync(join(out, 'use.ts'), [head, ...uses, ''].join('\n'))
  expect(typeErrors(out)).toEqual([])
})
