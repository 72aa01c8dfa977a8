import { describe, expect, test } from 'vitest'
import {
  allSchemas,
  dates,
  documentOf,
  isNode,
  type Node,
  operationsOf,
  receivedSchemas,
  resolve,
  sentSchemas,
} from './documents.ts'

function hasType(node: Node, type: string): boolean {
  return Array.isArray(node.type) ? node.type.includes(type) : node.type === type
}

function unbounded(node: Node): boolean {
  if (node.enum !== undefined || node.const !== undefined) return false
  if (hasType(node, 'string') && node.maxLength === undefined) return true
  if (hasType(node, 'array') && node.maxItems === undefined) return true
  if ((hasType(node, 'integer') || hasType(node, 'number')) && node.maximum === undefined) return true
  const isMap = isNode(node.additionalProperties) || isNode(node.patternProperties)
  return isMap && (node.maxProperties === undefined || !isNode(node.propertyNames))
}

/**
 * Whether a pattern is matched in linear time by a backtracking engine: anchored, no look-around, no
 * back reference, and at most one unbounded repetition, which stands outside any group.
 */
function isLinear(pattern: string): boolean {
  if (!pattern.startsWith('^') || !pattern.endsWith('$')) return false
  const bare = pattern.replaceAll(/\\[^0-9]/g, 'x').replaceAll(/\[[^\]]*\]/g, 'x')
  if (/\\[0-9]|\(\?(?!:)/.test(bare)) return false
  const unbounded = [...bare.matchAll(/[*+]|\{[0-9]+,\}/g)]
  if (unbounded.length > 1) return false
  return unbounded.every((match) => {
    const before = bare.slice(0, match.index)
    const depth = before.split('(').length - before.split(')').length
    return depth === 0 && !before.endsWith(')')
  })
}

test.each([
  ['^[a-z][a-z0-9_]{0,39}$', true],
  ['^[0-9A-Za-z+/]*={0,2}$', true],
  ['^(?:a|b)_[0-9]{2}(?:\\.[0-9]{1,9})?$', true],
  ['^(?:a+)+$', false],
  ['^(?:a|ab)*$', false],
  ['^a*a*$', false],
  ['[a-z]{2}', false],
  ['^(?=a)b$', false],
  ['^(a)\\1$', false],
])('a pattern is judged by whether it is linear: %s is %s', (pattern, want) => {
  expect(isLinear(pattern)).toBe(want)
})

describe.each(dates)('%s', (date) => {
  const document = documentOf(date)
  const sent = sentSchemas(document)
  const received = receivedSchemas(document)

  test('every value that callers send is bounded', () => {
    expect(sent.filter(({ node }) => unbounded(node)).map(({ pointer }) => pointer)).toEqual([])
  })

  test('objects that callers send are closed', () => {
    const open = sent.filter(({ node }) => isNode(node.properties) && node.additionalProperties !== false)
    expect(open.map(({ pointer }) => pointer)).toEqual([])
  })

  test('objects that callers receive are open', () => {
    const closed = received.filter(
      ({ node }) => isNode(node.properties) && node.additionalProperties !== undefined,
    )
    expect(closed.map(({ pointer }) => pointer)).toEqual([])
  })

  test('enumerations that callers receive are open, or closed for a reason', () => {
    const closedForGood = ['Environment', 'Idempotency-Replayed']
    const closed = received.filter(({ node }) => node.enum !== undefined && node['x-extensible'] !== true)
    expect(
      closed.map(({ pointer }) => pointer.split('/').at(-1)).filter((name) => !closedForGood.includes(name!)),
    ).toEqual([])
  })

  test('every pattern of the document is linear', () => {
    const slow = allSchemas(document).filter(
      ({ node }) => typeof node.pattern === 'string' && !isLinear(node.pattern),
    )
    expect(slow.map(({ pointer, node }) => `${pointer} ${node.pattern}`)).toEqual([])
  })

  test('unions have a discriminator', () => {
    const bare = allSchemas(document).filter(({ node }) => {
      const list = Array.isArray(node.oneOf) ? node.oneOf : Array.isArray(node.anyOf) ? node.anyOf : []
      const choices = list.filter((member) => !(isNode(member) && member.type === 'null'))
      return choices.length > 1 && node.discriminator === undefined
    })
    expect(bare.map(({ pointer }) => pointer)).toEqual([])
  })

  test('bodies and successful answers are named schemas', () => {
    const inline = operationsOf(document).flatMap((operation) => {
      const bodies = isNode(operation.node.requestBody) ? [operation.node.requestBody] : []
      const answers = isNode(operation.node.responses) ? Object.values(operation.node.responses) : []
      return [...bodies, ...answers].filter(isNode).flatMap((holder) => {
        const { node } = resolve(document, { pointer: operation.pointer, node: holder })
        const media = isNode(node.content) ? Object.values(node.content).filter(isNode) : []
        return media.some(({ schema }) => !(isNode(schema) && typeof schema.$ref === 'string'))
          ? [operation.pointer]
          : []
      })
    })
    expect(inline).toEqual([])
  })
})
