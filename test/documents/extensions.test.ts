import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import {
  allSchemas,
  dates,
  documentOf,
  extensionSchemas,
  isNode,
  type Located,
  members,
  type Node,
  operationsOf,
  parametersOf,
  webhooksOf,
} from './documents.ts'

const ajv = new Ajv2020({ allErrors: true }).addKeyword('inheritedBy')

function extensionsOf(node: Node): Node {
  return Object.fromEntries(Object.entries(node).filter(([name]) => name.startsWith('x-')))
}

function faults(kind: string, nodes: Located[]): string[] {
  const validate = ajv.compile(extensionSchemas[kind] as Node)
  return nodes.flatMap(({ node, pointer }) =>
    validate(extensionsOf(node))
      ? []
      : (validate.errors ?? []).map((error) => `${pointer} ${error.message} ${JSON.stringify(error.params)}`),
  )
}

/** Members of operations that the newest document declares on behalf of all. */
const canonical = members(extensionSchemas, '/canonicalOperation/properties').map(({ name }) => name)

const without = (located: Located, names: readonly string[]): Located => ({
  ...located,
  node: Object.fromEntries(Object.entries(located.node).filter(([name]) => !names.includes(name))),
})

describe.each(dates)('%s', (date) => {
  const document = documentOf(date)

  test('extensions stand where they may, and nowhere else', () => {
    const tags = (document.tags as Node[]).map((node, index) => ({ node, pointer: `/tags/${index}` }))
    expect([
      ...faults('document', [{ node: document, pointer: '' }]),
      ...faults('info', [{ node: document.info as Node, pointer: '/info' }]),
      ...faults('tag', tags),
      ...faults(
        'operation',
        operationsOf(document).map((operation) => without(operation, canonical)),
      ),
      ...faults('event', webhooksOf(document)),
      ...faults('parameter', [
        ...members(document, '/components/parameters'),
        ...operationsOf(document).flatMap((operation) => parametersOf(document, operation)),
      ]),
      ...faults('schema', allSchemas(document)),
    ]).toEqual([])
  })

  test('every operation has one tag, which is declared', () => {
    const declared = (document.tags as Node[]).map((tag) => tag.name)
    const stray = [...operationsOf(document), ...webhooksOf(document)].filter(
      ({ node }) => !(Array.isArray(node.tags) && node.tags.length === 1 && declared.includes(node.tags[0]!)),
    )
    expect(stray.map(({ pointer }) => pointer)).toEqual([])
  })
})

test('the newest document declares what holds for all versions, the older ones nothing of it', () => {
  const declared = (date: string) =>
    operationsOf(documentOf(date)).flatMap(({ node }) => canonical.filter((name) => name in node))
  expect(dates.slice(0, -1).flatMap(declared)).toEqual([])
  const validate = ajv.compile(extensionSchemas.canonicalOperation as Node)
  const wrong = operationsOf(documentOf(dates.at(-1)!)).filter(({ node, method }) => {
    const given = canonical.filter((name) => name in node).map((name) => [name, node[name]])
    return !validate({ method, ...Object.fromEntries(given) })
  })
  expect(wrong.map(({ pointer }) => pointer)).toEqual([])
})

test.each([
  ['canonicalOperation', { method: 'POST' }],
  ['canonicalOperation', { method: 'GET', 'x-account': 'whole' }],
  ['canonicalOperation', { method: 'POST', 'x-audit-action': 'revokePass' }],
  ['canonicalOperation', { method: 'POST', 'x-audit-action': 'pass.revoked', 'x-account': true }],
])('the schema of %s extensions refuses %j', (kind, members) => {
  const validate = ajv.compile(extensionSchemas[kind] as Node)
  expect(validate(members)).toBe(false)
})

test.each([
  ['schema', { 'x-sensitive': false }],
  ['operation', { 'x-scope': 'write' }],
  ['operation', { 'x-scope': 'write', 'x-rate-limt': 'read' }],
  ['operation', { 'x-scope': 'owner', 'x-rate-limit': 'read' }],
  ['info', { 'x-status': 'deprecated' }],
  ['info', { 'x-status': 'current', 'x-sunset': '2027-02-02T00:00:00Z' }],
  ['tag', {}],
  ['parameter', { 'x-filter': 'range' }],
  ['schema', { 'x-extensible': false }],
])('the extensions of a %s are refused: %j', (kind, extensions) => {
  expect(isNode(extensionSchemas[kind])).toBe(true)
  expect(faults(kind, [{ node: extensions as Node, pointer: '' }])).not.toEqual([])
})
