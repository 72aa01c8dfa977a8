import { describe, expect, test } from 'vitest'
import {
  allSchemas,
  at,
  dates,
  documentOf,
  isNode,
  type Json,
  join,
  type Located,
  members,
  type Node,
  operationsOf,
  parametersOf,
  resolve,
  validatorAt,
} from './documents.ts'

function faults(date: string, pointer: string, example: Json | undefined, where: string): string[] {
  const validate = validatorAt(date, pointer)
  if (validate(example)) return []
  return (validate.errors ?? []).map(
    (error) => `${where} ${error.instancePath || '(whole)'} ${error.message} (${error.schemaPath})`,
  )
}

/** Parameters and headers carry `example`, media types `examples`. */
function holders(document: Node): Located[] {
  const shared = ['parameters', 'headers'].flatMap((kind) => members(document, `/components/${kind}`))
  const own = operationsOf(document).flatMap((operation) => parametersOf(document, operation))
  return [...new Map([...shared, ...own].map((located) => [located.pointer, located])).values()]
}

/** A value put together from the examples of a schema's parts; complains where a part has none. */
function compose(document: Node, located: Located): Json {
  const { node, pointer } = located
  if (Array.isArray(node.examples)) return node.examples[0]!
  if (node.const !== undefined) return node.const
  if (typeof node.$ref === 'string') return compose(document, resolve(document, located))
  if (Array.isArray(node.allOf)) {
    const parts = node.allOf.map((part, index) =>
      compose(document, { pointer: join(pointer, 'allOf', index), node: part as Node }),
    )
    return Object.assign({}, ...parts) as Json
  }
  if (Array.isArray(node.oneOf))
    return compose(document, { pointer: join(pointer, 'oneOf', 0), node: node.oneOf[0] as Node })
  if (isNode(node.items)) return [compose(document, { pointer: join(pointer, 'items'), node: node.items })]
  if (isNode(node.properties)) {
    return Object.fromEntries(
      members(document, join(pointer, 'properties')).map((part) => [part.name, compose(document, part)]),
    )
  }
  if (Array.isArray(node.type) && node.type.includes('null')) throw new Error(`${pointer} has no example`)
  throw new Error(`${pointer} has no example`)
}

describe.each(dates)('%s', (date) => {
  const document = documentOf(date)

  test('every example of a schema validates against it', () => {
    const found = allSchemas(document).flatMap(({ node, pointer }) =>
      (Array.isArray(node.examples) ? node.examples : []).flatMap((example, index) =>
        faults(date, pointer, example, join(pointer, 'examples', index)),
      ),
    )
    expect(found).toEqual([])
  })

  test('every parameter and header has an example, and it validates', () => {
    const found = holders(document).flatMap(({ node, pointer }) =>
      node.example === undefined
        ? [`${pointer} has no example`]
        : faults(date, join(pointer, 'schema'), node.example, join(pointer, 'example')),
    )
    expect(found).toEqual([])
  })

  test('every answer of a shared error has examples, and they validate', () => {
    const found = members(document, '/components/responses').flatMap((answer) => {
      if (!isNode(answer.node.content)) return []
      const media = join(answer.pointer, 'content', 'application/json')
      const examples = members(document, join(media, 'examples'))
      if (examples.length === 0) return [`${media} has no examples`]
      return examples.flatMap((example) =>
        faults(date, join(media, 'schema'), example.node.value, join(example.pointer, 'value')),
      )
    })
    expect(found).toEqual([])
  })

  test('the examples of its parts make a valid value of every schema', () => {
    const found = members(document, '/components/schemas').flatMap((schema) =>
      faults(date, schema.pointer, compose(document, schema), schema.pointer),
    )
    expect(found).toEqual([])
  })

  test('everything that can be described is described', () => {
    const parts = allSchemas(document).filter(
      ({ node, pointer }) =>
        /\/(?:properties|schemas)\/[^/]+$/.test(pointer) &&
        node.description === undefined &&
        typeof node.$ref !== 'string',
    )
    const holding = ['parameters', 'headers', 'responses'].flatMap((kind) =>
      members(document, `/components/${kind}`).filter(({ node }) => typeof node.description !== 'string'),
    )
    const operations = operationsOf(document).filter(
      ({ node }) => typeof node.summary !== 'string' || typeof node.description !== 'string',
    )
    expect([...parts, ...holding, ...operations].map(({ pointer }) => pointer)).toEqual([])
  })

  test('every member of an enumeration with descriptions is described, and nothing else', () => {
    const found = allSchemas(document).flatMap(({ node, pointer }) => {
      const described = at(node, '/x-enumDescriptions')
      if (!isNode(described)) return []
      const listed = JSON.stringify(node.enum)
      return JSON.stringify(Object.keys(described)) === listed ? [] : [pointer]
    })
    expect(found).toEqual([])
  })
})
