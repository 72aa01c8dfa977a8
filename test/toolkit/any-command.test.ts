/** Whatever stands in a document, no command ends as a bug, and each finding has its line. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import type { Diagnostic } from '../../generators/diagnostics/diagnostic.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dateline-command-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const file = (name: string) => join(folder, name)

/** Runs a command over a family of two documents. */
async function run(old: unknown, next: unknown, ...command: string[]) {
  writeFileSync(file('2030.json'), JSON.stringify(old))
  writeFileSync(file('2031.json'), JSON.stringify(next))
  const members = { documents: ['./2030.json', './2031.json'], out: './out', emit: ['types', 'validators'] }
  writeFileSync(file('dateline.config.json'), JSON.stringify(members))
  const lines: string[] = []
  const errors: string[] = []
  const terminal = { out: (line: string) => lines.push(line), error: (line: string) => errors.push(line) }
  const code = await main(['--config', file('dateline.config.json'), ...command, '--json'], terminal)
  expect(errors.join('\n')).toBe('')
  const { findings, laws } = JSON.parse(lines.join('\n')) as { findings: Diagnostic[]; laws?: number }
  return { code, findings, laws }
}

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` })
const json = (schema: object, more: object = {}) => ({ 'application/json': { schema, ...more } })

/** One of every construct. */
const documentOf = (version: string) => ({
  openapi: '3.1.0',
  info: { title: 'Any', version, description: 'Everything.', license: { name: 'MIT', identifier: 'MIT' } },
  servers: [{ url: 'https://example.com', description: 'Here.' }],
  tags: [{ name: 'things', description: 'Things.' }],
  security: [{ key: [] }, { oauth2: ['read'] }],
  paths: {
    '/things/{id}': {
      parameters: [ref('parameters', 'Id')],
      get: {
        operationId: 'get_thing',
        tags: ['things'],
        summary: 'Read',
        deprecated: true,
        parameters: [
          { name: 'q', in: 'query', style: 'deepObject', explode: true, schema: ref('schemas', 'Map') },
        ],
        responses: { 200: ref('responses', 'Thing'), default: { description: 'Wrong.' } },
      },
      post: {
        operationId: 'make_thing',
        tags: ['things'],
        security: [],
        requestBody: ref('requestBodies', 'Thing'),
        responses: {
          201: {
            description: 'Made.',
            headers: { ETag: ref('headers', 'ETag') },
            content: json(ref('schemas', 'Thing'), { examples: { one: ref('examples', 'One') } }),
            links: { self: { operationId: 'get_thing', parameters: { id: '$response.body#/id' } } },
          },
        },
        callbacks: {
          done: { '{$url}': { post: { requestBody: ref('requestBodies', 'Thing'), responses: {} } } },
        },
      },
    },
  },
  webhooks: {
    'thing.made': {
      post: { requestBody: ref('requestBodies', 'Thing'), responses: { 200: { description: 'Fine.' } } },
    },
  },
  components: {
    parameters: { Id: { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^a' } } },
    headers: { ETag: { schema: { type: 'string' } } },
    examples: { One: { summary: 'One', value: { id: 'a', kind: 'thing' } } },
    responses: { Thing: { description: 'It.', content: json(ref('schemas', 'Thing')) } },
    requestBodies: { Thing: { required: true, content: json(ref('schemas', 'Thing')) } },
    securitySchemes: {
      key: { type: 'http', scheme: 'bearer' },
      oauth2: {
        type: 'oauth2',
        flows: { clientCredentials: { tokenUrl: 'https://example.com', scopes: { read: 'R' } } },
      },
    },
    schemas: {
      Thing: {
        type: 'object',
        required: ['id', 'kind'],
        properties: {
          id: { type: 'string', format: 'uuid', minLength: 1, maxLength: 9 },
          kind: { const: 'thing' },
          state: { type: 'string', enum: ['on', 'off'], default: 'on' },
          size: { type: ['integer', 'null'], minimum: 0, exclusiveMaximum: 9, multipleOf: 1 },
          parts: {
            type: 'array',
            items: ref('schemas', 'Thing'),
            minItems: 0,
            maxItems: 3,
            uniqueItems: true,
          },
          pair: { type: 'array', prefixItems: [{ type: 'number' }, true], contains: { type: 'number' } },
          other: ref('schemas', 'Either'),
        },
        additionalProperties: false,
        dependentRequired: { size: ['state'] },
        examples: [{ id: 'a', kind: 'thing' }],
      },
      Map: {
        type: 'object',
        patternProperties: { '^a': { type: 'string' } },
        propertyNames: { minLength: 1 },
      },
      Other: { type: 'object', required: ['kind'], properties: { kind: { const: 'other' } } },
      Either: {
        oneOf: [ref('schemas', 'Thing'), ref('schemas', 'Other')],
        discriminator: { propertyName: 'kind', mapping: { thing: '#/components/schemas/Thing' } },
      },
      All: { allOf: [ref('schemas', 'Other'), { not: { required: ['x'] } }], unevaluatedProperties: false },
      If: { if: { type: 'string' }, else: { anyOf: [true, { type: 'null' }] } },
    },
  },
})

type Path = readonly string[]

function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, each]) => placesIn(each, [...path, name]))]
}

function withOther(document: object, path: Path, other: unknown): unknown {
  if (path.length === 0) return other
  const changed = structuredClone(document) as Record<string, unknown>
  let at = changed
  for (const name of path.slice(0, -1)) at = at[name] as Record<string, unknown>
  at[path.at(-1)!] = other
  return changed
}

const OLD = documentOf('2030')
const NEXT = documentOf('2031')
const COMMANDS: readonly Path[] = [
  ['generate'],
  ['check'],
  ['prove', '--seconds', '0.02', '--seed', '1'],
  ['diff', '2030', '2031'],
]

interface Mutation {
  readonly at: Path
  readonly other: unknown
  readonly old: boolean
  readonly command: Path
}

test('every construct is read', async () => {
  const { code, findings } = await run(OLD, NEXT, 'generate')
  expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(code).toBe(0)
})

const OTHERS: readonly unknown[] = [null, [], 7, 'text', {}]

/** Runs the command; each error that it finds has a line. */
async function check({ at, other, old, command }: Mutation) {
  const changed = withOther(old ? OLD : NEXT, at, other)
  const { code, findings } = await run(old ? changed : OLD, old ? NEXT : changed, ...command)
  expect([0, 1, 3]).toContain(code)
  for (const each of findings.filter(({ severity }) => severity === 'error')) {
    // What `check` misses in the output has a file, and may have no line of a document.
    if (each.code === 'drift') continue
    expect(each).toMatchObject({ place: { line: expect.any(Number), column: expect.any(Number) } })
  }
}

/** With it each place gets each value (`npm run fuzz`), without it one of them in turn. */
const everyValue = process.env.FUZZ_CASES !== undefined

test('another value in each place is read', { timeout: 120_000 }, async () => {
  const wrong: string[] = []
  const mutations = placesIn(NEXT).flatMap((at, index) =>
    (everyValue ? OTHERS : [OTHERS[index % OTHERS.length]]).map((other) => ({ at, other })),
  )
  for (const { at, other } of mutations) {
    try {
      await check({ at, other, old: false, command: ['diff', '2030', '2031'] })
    } catch (error) {
      wrong.push(
        `${JSON.stringify(other)} in ${at.join('/')}: ${error instanceof Error ? error.message : error}`,
      )
    }
  }
  expect(wrong).toEqual([])
})

test('every command survives anything in the place of anything', async () => {
  const mutation = fc.record<Mutation>({
    at: fc.constantFrom(...placesIn(NEXT)),
    other: fc.constantFrom(...OTHERS),
    old: fc.boolean(),
    command: fc.constantFrom(...COMMANDS),
  })
  await fc.assert(fc.asyncProperty(mutation, check), {
    numRuns: Number(process.env.FUZZ_CASES ?? 30),
    seed: Number(process.env.FUZZ_SEED ?? 1),
    interruptAfterTimeLimit: 50_000,
  })
}, 600_000)

test.each([
  ['an enum without values', { type: 'string', enum: [] }],
  ['a host name', { type: 'string', format: 'hostname' }],
  ['a template of an address', { type: 'string', format: 'uri-template' }],
])('prove works on a schema with %s', async (_, schema) => {
  const withSchema = (version: string) => {
    const { components, ...rest } = documentOf(version)
    const { Thing } = components.schemas
    const properties = { ...Thing.properties, proven: schema }
    const schemas = { ...components.schemas, Thing: { ...Thing, properties } }
    return { ...rest, components: { ...components, schemas } }
  }
  const { code, findings, laws } = await run(
    withSchema('2030'),
    withSchema('2031'),
    'prove',
    '--seconds',
    '1',
    '--seed',
    '1',
  )
  expect(findings.filter(({ code }) => code.startsWith('proof-mismatch'))).toEqual([])
  expect(laws).toBeGreaterThan(0)
  expect(code).toBe(0)
})
