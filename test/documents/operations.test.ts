import { describe, expect, test } from 'vitest'
import {
  dates,
  documentOf,
  isNode,
  type Node,
  type Operation,
  operationsOf,
  parametersOf,
} from './documents.ts'
import { rows } from './operations.table.ts'

const PAGING = ['limit', 'starting_after', 'ending_before', 'order']
const CREATED = ['created_after', 'created[gte]', 'created[gt]', 'created[lte]', 'created[lt]']

function queryOf(document: Node, operation: Operation): string[] {
  return parametersOf(document, operation)
    .filter(({ node }) => node.in === 'query')
    .map(({ node }) => String(node.name))
}

/** An operation of a document in the words of the table. */
function rowOf(document: Node, operation: Operation): string {
  const { node } = operation
  const security = node.security as { oauth?: string[] }[]
  const status = Object.keys(node.responses as Node).find((code) => code.startsWith('2'))
  const filters = queryOf(document, operation).filter((name) => ![...PAGING, ...CREATED].includes(name))
  return [
    operation.method,
    operation.path,
    node['x-scope'],
    security.flatMap(({ oauth }) => oauth ?? []).join('+') || '-',
    node['x-rate-limit'],
    status,
    node['x-factor'] === true ? 'factor' : '',
    node['x-environment'] ?? '',
    node['x-plan'] ? `plan=${node['x-plan']}` : '',
    node['x-publishable'] === true ? 'publishable' : '',
    node['x-verified'] === true ? 'verified' : '',
    node['x-pagination'] === 'cursor' ? 'list' : '',
    filters.length > 0 ? `filters=${filters.join(',')}` : '',
  ]
    .filter((word) => word !== '')
    .join(' ')
}

describe.each(dates)('%s', (date) => {
  const document = documentOf(date)
  const operations = operationsOf(document)

  test('the document has exactly the operations of the table, with what the table says of each', () => {
    // A row of a later version replaces the earlier row of its operation.
    const known = rows.filter(({ since }) => since <= date).sort((a, b) => (a.since < b.since ? -1 : 1))
    const want = [...new Map(known.map(({ text }) => [text.split(' ', 2).join(' '), text])).values()]
    expect(operations.map((operation) => rowOf(document, operation)).sort()).toEqual(want.sort())
  })

  test('every list can be paged and restricted by time', () => {
    const poor = operations.filter((operation) => {
      const names = queryOf(document, operation)
      return (
        operation.node['x-pagination'] === 'cursor' &&
        ![...PAGING, ...CREATED].every((name) => names.includes(name))
      )
    })
    expect(poor.map(({ pointer }) => pointer)).toEqual([])
  })

  test('every POST takes Idempotency-Key, which is required from 2026-02-01 on; nothing else does', () => {
    const found = operations.map((operation) => {
      const key = parametersOf(document, operation).find(({ node }) => node.name === 'Idempotency-Key')
      return [operation.method, key ? key.node.required === true : 'absent']
    })
    const wrong = found.filter(
      ([method, key]) => key !== (method === 'POST' ? date >= '2026-02-01' : 'absent'),
    )
    expect(wrong).toEqual([])
  })

  test('every operation takes Service-Version, and Service-Factor exactly where a factor is asked for', () => {
    const wrong = operations.filter((operation) => {
      const headers = parametersOf(document, operation).map(({ node }) => node.name)
      return (
        !headers.includes('Service-Version') ||
        headers.includes('Service-Factor') !== (operation.node['x-factor'] === true)
      )
    })
    expect(wrong.map(({ pointer }) => pointer)).toEqual([])
  })

  test('every operation lists the errors that it can answer', () => {
    const wrong = operations.filter(({ node, method, path }) => {
      const codes = Object.keys(node.responses as Node)
      const body = isNode(node.requestBody)
      const want = ['400', '401', '403', '410', '429', '500', '503']
      if (path.includes('{') || node['x-environment'] !== undefined) want.push('404')
      if (method === 'POST') want.push('409')
      if (body) want.push('413', '415', '422')
      if (['createPass', 'createPassBatch'].includes(String(node.operationId))) want.push('402')
      return !want.every((code) => codes.includes(code))
    })
    expect(wrong.map(({ pointer }) => pointer)).toEqual([])
  })

  test('the names of operations are unique and read as verb and resource', () => {
    const ids = operations.map(({ node }) => String(node.operationId))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !/^[a-z]+(?:[A-Z][a-z]*)+$/.test(id))).toEqual([])
  })
})
