/** Lenses of parameters, of operations and of statuses: what is emitted does, and what the proof carries out. */
import ts from 'typescript'
import { describe, expect, test } from 'vitest'
import type { Lens } from '../../generators/change/change.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { emitHandlers } from '../../generators/emit/handlers/handlers.ts'
import { emitRoutes } from '../../generators/emit/routes/routes.ts'
import { emitTranslations } from '../../generators/emit/translations/translations.ts'
import { emitTypes, printTypes } from '../../generators/emit/types/types.ts'
import type { Api } from '../../generators/ir/model.ts'
import { applyParameters, PARTS, type ParameterPart } from '../../generators/translate/parameters.ts'
import { createTransition } from '../../generators/translate/transition.ts'
import { read } from '../ir/document.ts'
import { programOf } from './compile.ts'
import { runEmitted } from './emitted.ts'

const VERSIONS = ['2030-01-01', '2030-06-01', '2031-01-01']

/** @param documents YAML after the head, oldest first. @param lenses those between each and the next. */
function family(documents: readonly string[], ...lenses: readonly (readonly Lens[])[]) {
  const apis = documents.map(
    (text, index): Api => read(text, `openapi: 3.1.0\ninfo: { title: T, version: ${VERSIONS[index]} }\n`).api,
  )
  const changes = lenses.map((own, index) => {
    const version = VERSIONS[index + 1]!
    return { id: `change-${version}`, why: '', lenses: own, version, file: `versions/${version}/change.ts` }
  })
  const report = createReport()
  const translations = emitTranslations(apis, changes, report, 'generated')
  const emitted = runEmitted(translations, changes)
  const bindings = translations.bindings.get(VERSIONS[0]!)!
  const operation = apis[0]!.operations[0]!
  const up = (part: ParameterPart, values: Readonly<Record<string, unknown>>) => {
    const bound = { path: bindings.upPath, query: bindings.upQuery, header: bindings.upHeaders }[part](
      operation,
    )
    const got = json((emitted.find(bound) ?? ((value) => value))(structuredClone(values)))
    if (apis.length === 2) {
      const rewrites = createTransition(apis[0]!, apis[1]!, changes).parameters[part].get(operation.id) ?? []
      expect(json(applyParameters(rewrites, Object.freeze({ ...values })))).toEqual(got)
    }
    return got
  }
  const routes = emitRoutes(apis, translations.bindings, report)
  return {
    up,
    bindings,
    operation,
    bound: PARTS.filter((part) => up(part, {}) && bindings[`up${BINDINGS[part]}`](operation)),
    diagnostics: report.diagnostics.map(({ code }) => code),
    route: routes.find(({ path }) => path.startsWith(VERSIONS[0]!))!.text,
    handlers: emitHandlers(apis, changes)[0]!.text,
  }
}

const BINDINGS = { path: 'Path', query: 'Query', header: 'Headers' } as const
const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const parameter = (where: ParameterPart, name: string, more = 'schema: { type: string }'): string =>
  `{ name: ${name}, in: ${where}, ${where === 'path' ? 'required: true, ' : ''}${more} }`
const get = (parameters: readonly string[], path = '/a', id = 'getA', status = '200'): string =>
  `paths: { "${path}": { get: { operationId: ${id}, parameters: [${parameters}], responses: { '${status}': { description: ok } } } } }`
const of = (where: ParameterPart) => ({ operations: [] as string[], in: where })

describe('names of parameters', () => {
  test.each(['query', 'header'] as const)(
    'a renamed parameter in the %s is read under the new name, and only there',
    (where) => {
      const lens = { kind: 'renamed-parameter', ...of(where), from: 'old', to: 'New' } as const
      const run = family([get([parameter(where, 'old')]), get([parameter(where, 'New')])], [lens])
      const to = where === 'header' ? 'new' : 'New'
      expect(run.up(where, { old: 'x', other: 'y' })).toEqual({ [to]: 'x', other: 'y' })
      expect(run.up(where, {})).toEqual({})
      expect(run.route).toContain("parameterNames: { New: 'old' }")
    },
  )
  test('names that two parameters have swapped are translated', () => {
    const swap = (from: string, to: string) =>
      ({ kind: 'renamed-parameter', ...of('query'), from, to }) as const
    const both = get([parameter('query', 'a'), parameter('query', 'b')])
    expect(family([both, both], [swap('a', 'b'), swap('b', 'a')]).up('query', { a: '1', b: '2' })).toEqual({
      a: '2',
      b: '1',
    })
  })
  test('a placeholder is renamed by its position, without a lens', () => {
    const run = family([
      get([parameter('path', 'a'), parameter('path', 'b')], '/{a}/x/{b}'),
      get([parameter('path', 'b'), parameter('path', 'c')], '/{b}/x/{c}'),
    ])
    expect(run.up('path', { a: '1', b: '2' })).toEqual({ b: '1', c: '2' })
    expect(run.bound).toEqual(['path'])
    expect(run.route).toContain("parameterNames: { b: 'a', c: 'b' }")
  })
  test('a placeholder on another path is renamed by a lens', () => {
    const lens = { kind: 'renamed-parameter', ...of('path'), from: 'a', to: 'b' } as const
    const documents = [get([parameter('path', 'a')], '/x/{a}'), get([parameter('path', 'b')], '/y/{b}')]
    expect(family(documents, [lens]).up('path', { a: '1' })).toEqual({ b: '1' })
  })
  test('a renamed parameter is translated over two steps, in errors too', () => {
    const rename = (from: string, to: string) =>
      ({ kind: 'renamed-parameter', ...of('query'), from, to }) as const
    const documents = ['a', 'b', 'c'].map((name) => get([parameter('query', name)]))
    const run = family(documents, [rename('a', 'b')], [rename('b', 'c')])
    expect(run.up('query', { a: '1' })).toEqual({ c: '1' })
    expect(run.route).toContain("parameterNames: { c: 'a' }")
  })
  test('a parameter is renamed in the operations that the lens names alone', () => {
    const lens = {
      kind: 'renamed-parameter',
      operations: ['other'],
      in: 'query',
      from: 'a',
      to: 'b',
    } as const
    expect(family([get([parameter('query', 'a')]), get([parameter('query', 'b')])], [lens]).bound).toEqual([])
  })
})

describe('values of parameters', () => {
  const limit = (schema: string) => get([parameter('query', 'limit', `schema: { ${schema} }`)])
  const twenty = { kind: 'default-parameter', ...of('query'), name: 'limit', value: 20 } as const
  test('a default replaces another default', () => {
    const run = family([limit('type: integer, default: 20'), limit('type: integer, default: 10')], [twenty])
    expect(run.up('query', {})).toEqual({ limit: 20 })
    expect(run.up('query', { limit: 0 })).toEqual({ limit: 0 })
  })
  test.each(['path', 'query', 'header'] as const)(
    'a new required parameter in the %s gets its default',
    (where) => {
      const lens = { kind: 'default-parameter', ...of(where), name: 'space', value: 'main' } as const
      const run = family(
        [get([]), get([parameter(where, 'space')], where === 'path' ? '/{space}/a' : '/a')],
        [lens],
      )
      expect(run.up(where, {})).toEqual({ space: 'main' })
    },
  )
  test('a default for a filter is a list of it', () => {
    const filter = get([parameter('query', 'limit', 'schema: { type: integer }, x-filter: equality')])
    const run = family([filter, filter], [twenty])
    expect(run.up('query', {})).toEqual({ limit: [20] })
    expect(run.up('query', { limit: [1] })).toEqual({ limit: [1] })
  })
  test.each(['path', 'query'] as const)(
    'a parameter in the %s takes another type with its default',
    (where) => {
      const at = (type: string) => get([parameter(where, 'n', `schema: { type: ${type} }`)], '/{n}')
      const convert = { kind: 'converted-parameter', ...of(where), in: where, name: 'n', up: String } as const
      const lens = { kind: 'default-parameter', ...of(where), name: 'n', value: 'none' } as const
      const run = family([at('integer'), at('string')], [convert, lens])
      expect(run.up(where, { n: 5 })).toEqual({ n: '5' })
      expect(run.up(where, {})).toEqual({ n: 'none' })
      const alone = family([at('integer'), at('string')], [convert])
      expect(alone.up(where, {})).toEqual({})
    },
  )
  test('a parameter takes another name, another type and a default at once', () => {
    const lenses = [
      { kind: 'renamed-parameter', ...of('query'), from: 'n', to: 'm' },
      { kind: 'converted-parameter', ...of('query'), in: 'query', name: 'm', up: Number },
      { kind: 'default-parameter', ...of('query'), name: 'm', value: 7 },
    ] as const
    const run = family(
      [get([parameter('query', 'n')]), get([parameter('query', 'm', 'schema: { type: integer }')])],
      lenses,
    )
    expect(run.up('query', { n: '5' })).toEqual({ m: 5 })
    expect(run.up('query', {})).toEqual({ m: 7 })
  })
  test.each(['query', 'header'] as const)('a parameter in the %s that is ignored is left out', (where) => {
    const lens = { kind: 'ignored-parameter', ...of(where), name: 'Gone' } as const
    const run = family([get([parameter(where, 'Gone')]), get([])], [lens])
    expect(run.up(where, { [where === 'header' ? 'gone' : 'Gone']: 'x', a: '1' })).toEqual({ a: '1' })
  })
})

describe('operations and statuses', () => {
  test('an operation under another id, path and method keeps its route and has the one handler', () => {
    const post = get([parameter('query', 'a')], '/old', 'findA').replace('get:', 'post:')
    const run = family(
      [post, get([parameter('query', 'b')], '/new', 'searchA')],
      [
        { kind: 'served', from: 'findA', by: 'searchA' },
        { kind: 'renamed-parameter', operations: ['searchA'], in: 'query', from: 'a', to: 'b' },
      ],
    )
    expect(run.up('query', { a: '1' })).toEqual({ b: '1' })
    expect(run.route).toContain("id: 'searchA',\n    method: 'POST',\n    path: '/old',")
    expect(run.handlers).toContain('searchA(')
    expect(run.handlers).not.toContain('findA(')
  })
  test('a renamed operation is routed over two steps', () => {
    const documents = ['one', 'two', 'three'].map((id) => get([], `/${id}`, id))
    const run = family(
      documents,
      [{ kind: 'served', from: 'one', by: 'two' }],
      [{ kind: 'served', from: 'two', by: 'three' }],
    )
    expect(run.route).toContain("id: 'three'")
    expect(run.handlers).toMatch(/^ {2}three\(/m)
    expect(run.handlers).not.toMatch(/^ {2}(one|two)\(/m)
  })
  test('an old operation without the lens is an operation of its own', () => {
    const run = family([get([], '/old', 'findA'), get([], '/new', 'searchA')])
    expect(run.route).toContain("id: 'findA'")
    expect(run.handlers).toContain('findA(')
  })
  test('a status that the old version keeps, over two steps', () => {
    const documents = ['201', '200', '202'].map((status) => get([], '/a', 'getA', status))
    const status = (from: string, to: string) => ({ kind: 'status', operations: [], from, to }) as const
    const run = family(documents, [status('201', '200')], [status('200', '202')])
    expect(run.route).toContain("downStatus: { '202': 201 }")
    expect(
      family(documents.slice(0, 2), [{ ...status('201', '200'), operations: ['other'] }]).route,
    ).not.toContain('downStatus')
  })
})

test('handlers of a removed operation compile, and have the types of the last version that has it', async () => {
  const using = (schemas: string, paths: string) =>
    `paths: { ${paths} }\ncomponents: { schemas: { ${schemas} } }\n`
  const content = (name: string) =>
    `content: { application/json: { schema: { $ref: '#/components/schemas/${name}' } } }`
  const make = (path: string, id: string, name: string) =>
    `${path}: { post: { operationId: ${id}, requestBody: { required: true, ${content(name)} }, responses: { '200': { description: ok, ${content('Thing')} } } } }`
  const thing = (size: string) => `Thing: { type: object, properties: { size: { type: ${size} } } }`
  const apis = [
    using(
      `${thing('string')}, Job: { type: object, properties: { job: { type: string } } }`,
      `${make('/jobs', 'runJob', 'Job')}, ${make('/things', 'makeThing', 'Thing')}`,
    ),
    using(thing('integer'), make('/things', 'makeThing', 'Thing')),
  ].map((text, index) => read(text, `openapi: 3.1.0\ninfo: { title: T, version: ${VERSIONS[index]} }\n`).api)
  const root = `${process.cwd()}/generated`
  const use = `import type { Handlers } from './canonical/handlers.ts'
export const handlers: Handlers<null> = {
  runJob: async (_, { body }) => ({ status: 200, body: { size: body.job ?? '' } }),
  makeThing: async (_, { body }) => ({ status: 200, body: { size: (body.size ?? 0) + 1 } }),
}
`
  const emitted = [...emitTypes(apis, await printTypes(apis), false), ...emitHandlers(apis)]
  const files = [...emitted, { path: 'use.ts', text: use }].map(
    ({ path, text }) => [`${root}/${path}`, text] as const,
  )
  const program = programOf(new Map(files))
  const own = files.flatMap(([path]) => program.getSemanticDiagnostics(program.getSourceFile(path)))
  expect(own.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([])
})
