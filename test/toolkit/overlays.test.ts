/** Overlays: what they write is served, and findings lead to their lines. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { hashInputs } from '../../generators/cli/inputs.ts'
import { main } from '../../generators/cli.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { loadDocument } from '../../generators/document/load.ts'
import { readConfig } from '../../generators/generate/config.ts'
import { createVersionedApi, fromHeader } from '../../generators/server/api.ts'
import { versions } from '../golden/overlays/want/versions.ts'

let folder: string
const at = (path: string) => join(folder, path)

beforeEach(() => {
  folder = mkdtempSync('test/toolkit/.overlays-')
  cpSync('test/golden/overlays', folder, { recursive: true })
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

const check = async () => {
  const lines: string[] = []
  const say = (line: string) => void lines.push(line)
  const code = await main(['--config', at('dateline.config.json'), 'check'], { out: say, error: say })
  return { code, text: lines.join('\n').replaceAll(`${folder}/`, '') }
}

const overlay = (actions: string, more = '') =>
  writeFileSync(
    at('overlays/3-test.yaml'),
    `overlay: 1.0.0\ninfo: { title: T, version: "1" }\n${more}actions:\n${actions}`,
  )

/** Returns the document with all overlays. */
const overlaid = () => {
  const report = createReport()
  const { overlays } = readConfig(at('dateline.config.json'), report)!
  const document = loadDocument(at('openapi/2030-01-01.yaml'), report, { strict: true, overlays })!
  return { document, findings: report.diagnostics }
}

test('a request is validated by what overlays wrote, and removed operations are not served', async () => {
  const api = createVersionedApi({
    versions,
    resolveVersion: fromHeader('Api-Version'),
    context: () => undefined,
    handlers: {
      createParcel: (_: undefined, { body }: { body: unknown }) => ({ status: 201, body }),
    },
  })
  const post = async (path: string, body: object) => {
    const headers = { 'Api-Version': '2030-01-01', 'content-type': 'application/json' }
    return (
      await api.fetch(
        new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
      )
    ).status
  }
  expect(await post('/parcels', { label: 'A', weight: 5 })).toBe(201)
  expect(await post('/parcels', { label: 'A' })).toBe(422)
  expect(await post('/parcels', { label: 'A'.repeat(21), weight: 5 })).toBe(422)
  expect(await post('/parcels/repair', {})).toBe(404)
})

test.each([
  [
    'a wrong value',
    '  - target: $.paths["/parcels"].post\n    update:\n      deprecated: 3\n',
    /3-test\.yaml:6:7 warning document-shape: `deprecated`/,
  ],
  [
    'an item of a list after a removed one',
    '  - target: $.tags\n    update: { name: 3 }\n  - target: $.tags[0]\n    remove: true\n',
    /3-test\.yaml:5:15 error document-shape: `name`/,
  ],
  [
    'a missing reference',
    '  - target: $.components.schemas.Parcel.properties\n    update:\n      size: { $ref: "../schemas/size.yaml" }\n',
    /3-test\.yaml:6:15 error ref-missing: .*schemas\/size\.yaml does not exist/,
  ],
  [
    'a target that matches nothing',
    '  - target: $.paths["/letters"]\n    remove: true\n',
    /3-test\.yaml:4:5 warning overlay-unmatched: .* matches nothing in openapi\/2030-01-01\.yaml/,
  ],
  [
    'an invalid target',
    '  - target: paths.letters\n    remove: true\n',
    /3-test\.yaml:4:5 error overlay-invalid: paths\.letters is not a JSONPath expression/,
  ],
  [
    'an update that does not fit',
    '  - target: $.info.title\n    update: New\n',
    /3-test\.yaml:5:5 error overlay-invalid: the update does not fit \$\["info"\]\["title"\]/,
  ],
  [
    'the whole document',
    '  - target: $\n    remove: true\n',
    /3-test\.yaml:4:5 error overlay-invalid: the whole document/,
  ],
])('%s is found in the overlay', async (_, actions, finding) => {
  overlay(actions)
  expect((await check()).text).toMatch(finding)
})

test('updates merge objects, append to lists, and do not change other uses of a shared file', () => {
  overlay(
    [
      '  - target: $.tags',
      '    update: { name: Letters }',
      "  - target: $.paths['/parcels'].post",
      '    update: { tags: [Letters], responses: { "201": { description: New. } } }',
      '',
    ].join('\n'),
  )
  const { document, findings } = overlaid()
  expect(findings).toEqual([])
  const { tags, paths } = document.json as { tags: unknown; paths: Record<string, { post: unknown }> }
  expect(tags).toMatchObject([{ name: 'Parcels' }, { name: 'Letters' }])
  expect(paths['/parcels']!.post).toMatchObject({
    operationId: 'createParcel',
    tags: ['Parcels', 'Letters'],
    responses: { 201: { description: 'New.', content: {} }, 422: {} },
  })
})

test('an overlay that extends a different document is not applied', () => {
  overlay('  - target: $.paths\n    remove: true\n', 'extends: ../openapi/2029-01-01.yaml\n')
  expect(overlaid().findings).toEqual([])
  expect(overlaid().document.json).toHaveProperty('paths')
})

test('an edit to an overlay, or to a file that it refers to, changes the inputs of a run', () => {
  const inputs = () => {
    const file = at('dateline.config.json')
    return hashInputs(readConfig(file, createReport())!, file)
  }
  const seen = new Set([inputs()])
  for (const path of ['overlays/1-public.yaml', 'schemas/weight.yaml']) {
    writeFileSync(at(path), `${readFileSync(at(path), 'utf8')}\n`)
    seen.add(inputs())
  }
  expect([...seen].filter(Boolean)).toHaveLength(3)
})
