import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { Project } from 'ts-morph'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { loadDocument, parseText } from '../../generators/document/load.ts'
import { readConfig } from '../../generators/generate/config.ts'
import { buildApi } from '../../generators/ir/build.ts'
import { addResource } from '../../generators/scaffold/resource/add-resource.ts'
import type { ResourceRequest } from '../../generators/scaffold/resource/request.ts'
import { writeStubs } from '../../generators/scaffold/stub.ts'

const { documents, stub: templates } = readConfig('dateline.config.json', createReport())!
const NEWEST = documents.at(-1)!
const SOURCE = readFileSync(NEWEST, 'utf8')

const REQUEST: ResourceRequest = {
  name: 'gift_offers',
  singular: 'gift_offer',
  prefix: 'gfo',
  like: 'pass_templates',
  operations: ['create', 'list', 'get', 'update', 'archive'],
  events: ['created', 'updated'],
  properties: ['name', 'metadata'],
  extensions: {},
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'resource-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** A document as it is read: with the defaults of operations written out. */
function parse(text: string) {
  const report = createReport()
  const document = parseText('document.yaml', text, report)
  report.finish()
  // biome-ignore lint/suspicious/noExplicitAny: any document.
  return document!.json as any
}

/** Lines of `text` that are not in `source`, and what `source` has that `text` has not. */
function difference(source: string, text: string): { added: number; lost: string[] } {
  const rest = text.split('\n')
  const lost: string[] = []
  let from = 0
  for (const line of source.split('\n')) {
    const place = rest.indexOf(line, from)
    if (place === -1) lost.push(line)
    else from = place + 1
  }
  return { added: rest.length - source.split('\n').length, lost }
}

test('new-resource puts a resource in and leaves every other line as it is written', () => {
  const { text, blocks } = addResource(SOURCE, REQUEST)
  // The one line that changes is a list in brackets.
  expect(difference(SOURCE, text).lost.map((line) => line.trim())).toEqual([
    'tags: [pass_templates, passes, pass_messages, pass_message_batches, scans]',
  ])
  const lines = text.split('\n')
  const own = new Set(blocks.flatMap(([from, to]) => lines.slice(from - 1, to)))
  for (const line of lines.filter((each) => /gift_?offer|gfo_/i.test(each))) expect(own).toContain(line)
})

test('new-resource says of the new resource what the document says of its neighbor', () => {
  const before = parse(SOURCE)
  const after = parse(addResource(SOURCE, REQUEST).text)
  const create = after.paths['/v1/gift_offers'].post
  const model = before.paths['/v1/pass_templates'].post
  expect(create).toMatchObject({
    operationId: 'createGiftOffer',
    summary: 'Create a gift offer',
    tags: ['gift_offers'],
    'x-scope': model['x-scope'],
    'x-rate-limit': model['x-rate-limit'],
    'x-audit-action': 'gift_offer.created',
    security: model.security,
    parameters: model.parameters,
  })
  expect(Object.keys(create.responses)).toEqual(Object.keys(model.responses))
  expect(create.responses['201'].headers).toEqual(model.responses['201'].headers)
  const { get: list } = after.paths['/v1/gift_offers']
  expect(
    list.parameters.map((each: { $ref?: string; name?: string }) => each.$ref ?? each.name),
  ).not.toContain('kind')
  expect(Object.keys(after.paths['/v1/gift_offers/{gift_offer_id}'])).toEqual(['get', 'patch'])
  expect(after.paths['/v1/gift_offers/{gift_offer_id}/archive'].post.operationId).toBe('archiveGiftOffer')
  const { schemas, parameters } = after.components
  expect(schemas.GiftOfferId).toMatchObject({ pattern: '^gfo_[0-9a-hjkmnp-tv-z]{26}$', minLength: 30 })
  expect(parameters.GiftOfferId.name).toBe('gift_offer_id')
  expect(Object.keys(schemas.GiftOffer.properties)).toEqual([
    'id',
    'object',
    'name',
    'status',
    'metadata',
    'created',
    'updated',
  ])
  expect(schemas.GiftOfferCreate.required).toEqual(['name'])
  expect(schemas.GiftOfferUpdatedEvent.properties.data.required).toEqual(['gift_offer'])
  for (const name of ['EventType', 'EnabledEvent'])
    expect(schemas[name].enum).toEqual(expect.arrayContaining(['gift_offer.created', 'gift_offer.updated']))
  expect(schemas.EventType['x-enumDescriptions']['gift_offer.created']).toBe('A gift offer was created.')
})

test('new-resource gives identifiers the length that their prefix makes', () => {
  const { schemas } = parse(addResource(SOURCE, { ...REQUEST, prefix: 'offer' }).text).components
  expect([schemas.GiftOfferId.minLength, schemas.GiftOfferId.maxLength]).toEqual([32, 32])
  expect(schemas.GiftOfferId.examples[0]).toHaveLength(32)
})

test.each<[string, Partial<ResourceRequest>, RegExp]>([
  ['the tag', { name: 'cards' }, /cards already has operations/],
  ['the schema', { singular: 'pass' }, /a schema Pass already exists/],
  ['the prefix', { prefix: 'tpl' }, /TemplateId already has the prefix tpl/],
  ['the neighbour', { like: 'nobody' }, /no operation has the tag nobody/],
  ['an operation', { like: 'payouts' }, /payouts has no update operation to copy/],
  [
    'an event',
    { like: 'card_programs', operations: ['get'] },
    /card_programs has no event to copy for created/,
  ],
  ['a property', { properties: ['weight'] }, /PassTemplate has no property weight/],
])('new-resource is refused when %s does not fit', (_, change, message) => {
  expect(() => addResource(SOURCE, { ...REQUEST, ...change })).toThrow(message)
})

test('new-resource is a command, which says what comes next', async () => {
  mkdirSync(join(folder, 'openapi'))
  const file = join(folder, 'openapi/2030-01-01.yaml')
  writeFileSync(file, SOURCE)
  const config = join(folder, 'dateline.config.json')
  writeFileSync(config, JSON.stringify({ documents: './openapi', out: './out' }))
  const said: string[] = []
  const terminal = {
    out: (line: string) => void said.push(line),
    error: (line: string) => void said.push(line),
  }
  const words = [
    '--config',
    config,
    'new-resource',
    'gift_offers',
    '--like',
    'pass_templates',
    '--prefix',
    'gfo',
  ]
  expect([
    await main([...words, '--scope', 'admin'], terminal),
    resolve(said[0]!.slice('wrote '.length)),
  ]).toEqual([0, file])
  expect(said.join('\n')).toMatch(/2\. review and complete the new lines: .*2030-01-01\.yaml:\d+-\d+/)
  const { paths } = parse(readFileSync(file, 'utf8'))
  expect(paths['/v1/gift_offers'].get['x-scope']).toBe('admin')
  const before = readFileSync(file, 'utf8')
  expect(await main(words, terminal)).toBe(2)
  expect(readFileSync(file, 'utf8')).toBe(before)
})

test('the templates of this service make files of it that can be read, and rows in its tables', () => {
  const document = join(folder, '2026-05-19.yaml')
  writeFileSync(document, addResource(SOURCE, REQUEST).text)
  const report = createReport()
  const api = buildApi(loadDocument(document, report)!, report)
  const paths = templates!.files.map(({ file }) => dirname(file)).filter((path) => !path.includes('{{'))
  for (const path of new Set([templates!.templates, ...paths]))
    for (const name of readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isFile()))
      cpSync(join(path, name.name), join(folder, path, name.name))
  const added = api.operations.filter(({ tag }) => tag === 'gift_offers')
  const { written, left } = writeStubs(api, added, templates!, folder, join(folder, 'runtime'))
  expect([written.length, left]).toEqual([templates!.files.length, []])
  const project = new Project({ useInMemoryFileSystem: true })
  for (const file of written) {
    const text = readFileSync(file, 'utf8')
    expect([file, /gift/i.test(text) || text.includes("'gfo'")]).toEqual([file, true])
    if (!file.endsWith('.ts')) continue
    const source = project.createSourceFile(file, text)
    expect([file, project.getProgram().getSyntacticDiagnostics(source).length]).toEqual([file, 0])
  }
})
