/** Extensions that hold for an operation in all its versions, declared by the newest document that has it. */
import { expect, test } from 'vitest'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { emitRoutes } from '../../generators/emit/routes/routes.ts'
import type { ExtensionRules } from '../../generators/ir/extension-rules.ts'
import { read } from '../ir/document.ts'

const RULES: ExtensionRules = {
  schemas: {},
  canonical: new Set(['x-deed']),
  inherited: new Set(['x-private']),
}

const VERSIONS = ['2030-01-01', '2030-06-01']

/** The members `extensions` of the rows of each version, by operation. @param documents YAML after the head, oldest first. */
function extensionsOf(documents: readonly string[], rules?: ExtensionRules) {
  const apis = documents.map(
    (text, index) => read(text, `openapi: 3.1.0\ninfo: { title: T, version: ${VERSIONS[index]} }\n`).api,
  )
  const files = emitRoutes(apis, new Map(), createReport(), rules)
  return VERSIONS.map((version) => {
    const { text } = files.find(({ path }) => path === `${version}/routes.ts`)!
    const rows = [...text.matchAll(/id: '(\w+)',[\s\S]*?extensions: (\{.*\}),\n/g)]
    return Object.fromEntries(rows.map(([, id, extensions]) => [id, extensions]))
  })
}

const operation = (id: string, members: string, schema = '{ type: string }') =>
  `/${id}: { post: { operationId: ${id}, ${members} responses: {
    '200': { description: ok, content: { application/json: { schema: ${schema} } } },
    '404': { description: no, content: { application/json: { schema: { $ref: '#/components/schemas/Fault' } } } } } } }`

const document = (operations: readonly string[], word: string) => `paths: { ${operations.join(', ')} }
components: { schemas: {
  Thing: { type: object, properties: { next: { $ref: '#/components/schemas/Thing' }, words: { type: array, items: { $ref: '#/components/schemas/Word' } } } },
  Word: { type: object, properties: { word: ${word} } },
  Fault: { type: object, properties: { word: { type: string, x-private: true } } } } }
`

const OLD = document(
  [
    operation('lend', 'x-scope: read, x-deed: borrowed,'),
    operation('dropped', 'x-deed: dropped,'),
    operation('show', '', `{ $ref: '#/components/schemas/Thing' }`),
  ],
  '{ type: string }',
)
const NEW = document(
  [
    operation('lend', 'x-scope: write, x-deed: lent,'),
    operation('show', '', `{ $ref: '#/components/schemas/Thing' }`),
  ],
  '{ type: string, x-private: true }',
)

test('the newest document that has an operation says what holds for all versions', () => {
  const [old, next] = extensionsOf([OLD, NEW], RULES)
  expect(old!.lend).toBe("{ scope: 'read', deed: 'lent' }")
  expect(next!.lend).toBe("{ scope: 'write', deed: 'lent' }")
  expect(old!.dropped).toBe("{ deed: 'dropped' }")
})

test('an operation inherits from the schemas of its success, however deep, and from no others', () => {
  const [old, next] = extensionsOf([OLD, NEW], RULES)
  expect(old!.show).toBe('{ private: true }')
  expect(next!.show).toBe('{ private: true }')
  expect(next!.lend).not.toContain('private')
})

test('each document speaks for itself without rules', () => {
  const [old, next] = extensionsOf([OLD, NEW])
  expect(old!.lend).toBe("{ scope: 'read', deed: 'borrowed' }")
  expect(next!.show).toBe('{}')
})
