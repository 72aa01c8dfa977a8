/** Lenses on what is written out where it stands: they reach its values as those of components, and nothing else. */
import { describe, expect, test } from 'vitest'
import type { Lens } from '../../generators/change/change.ts'
import { placeIn } from '../../generators/change/inline.ts'
import type { LoadedChange } from '../../generators/change/load-changes.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { emitTranslations } from '../../generators/emit/translations/translations.ts'
import { emitChangeIndex } from '../../generators/gate/change-index.ts'
import { checkSteps } from '../../generators/gate/gate.ts'
import { claimSteps } from '../../generators/gate/steps.ts'
import type { Api } from '../../generators/ir/model.ts'
import { refute } from '../../generators/prove/law.ts'
import { lawsOfStep } from '../../generators/prove/steps.ts'
import { readPair } from '../toolkit/versions.ts'
import { runEmitted } from './emitted.ts'

const rename = (...schemas: string[]): Lens => ({ kind: 'rename', schemas, from: 'a', to: 'b' })
const optional = (value: unknown, ...schemas: string[]): Lens => ({
  kind: 'optional',
  schemas,
  property: 'p',
  value,
})

const changeOf = (...lenses: Lens[]): LoadedChange => ({
  id: 'a',
  why: '',
  lenses,
  version: '2030-06-01',
  file: 'versions/2030-06-01/a.ts',
})

function run(apis: readonly [Api, Api], ...lenses: Lens[]) {
  const changes = [changeOf(...lenses)]
  const translations = emitTranslations(apis, changes, createReport(), 'generated')
  const emitted = runEmitted(translations, changes)
  const bindings = translations.bindings.get('2030-01-01')!
  const operation = apis[0].operations[0]!
  const steps = claimSteps(apis, changes)
  const turn = (bound: Parameters<typeof emitted.find>[0]) => (value: unknown) =>
    JSON.parse(JSON.stringify((emitted.find(bound) ?? ((same) => same))(structuredClone(value))))
  return {
    up: turn(operation && bindings.upBody(operation)),
    down: turn(operation && bindings.down(operation)),
    at: (status: string) => turn(bindings.downs(operation).get(status)),
    event: turn(bindings.downEvent('a.done')),
    field: (name: string) => (emitted.find(operation && bindings.downField(operation)) ?? String)(name),
    found: checkSteps(steps, { versions: 'versions', out: 'generated' }).map(({ code, message }) => [
      code,
      message,
    ]),
    refuted: () =>
      steps
        .flatMap((step) => lawsOfStep(step, {}))
        .flatMap((claim) => refute(claim, { runs: 40, seed: 7, limit: 5_000 })?.message ?? []),
    index: emitChangeIndex(steps).text,
  }
}

const json = (schema: string): string => `content: { application/json: { schema: ${schema} } }`
const sending = (more: string): string => `paths: { /a: { post: { operationId: sendA, ${more} } } }`
const answering = (schema: string, status = '200'): string =>
  sending(
    `responses: { "${status}": { description: ok, ${json(schema)} }${status === '200' ? '' : ', "200": { description: ok }'} }`,
  )
const taking = (schema: string): string =>
  sending(`requestBody: { ${json(schema)} }, responses: { "200": { description: ok } }`)
const pairOf = (document: (schema: string) => string, old: string, next: string) =>
  readPair(document(`{ type: object, ${old} }`), document(`{ type: object, ${next} }`))

const OPTIONAL = [
  'required: [p], properties: { p: { type: integer } }',
  'properties: { p: { type: integer } }',
] as const
const RENAMED = ['properties: { a: { type: string } }', 'properties: { b: { type: string } }'] as const
const listed = (schema: string) => `{ type: object, properties: { data: { type: array, items: ${schema} } } }`

test('a lens translates an inline schema of an answer', () => {
  const { down, found, refuted, index } = run(
    pairOf((schema) => answering(schema), ...OPTIONAL),
    optional(7, 'sendA 200'),
  )
  expect(down({})).toEqual({ p: 7 })
  expect(down({ p: 1 })).toEqual({ p: 1 })
  expect(found).toEqual([])
  expect(refuted()).toEqual([])
  expect(index).toContain('/paths/~1a/post/responses/200/content/application~1json/schema/properties/p')
})

test('items of a list in an answer, and nothing beside them', () => {
  const pair = pairOf((schema) => answering(listed(schema)), ...RENAMED)
  const { down, found, refuted } = run(pair, rename(placeIn('sendA 200', ['data', '[]'])))
  expect(down({ data: [{ b: '1' }, {}], b: 'x' })).toEqual({ data: [{ a: '1' }, {}], b: 'x' })
  expect(found).toEqual([])
  expect(refuted()).toEqual([])
})

test('a body, whose fields have the older names in errors', () => {
  const pair = pairOf((schema) => taking(listed(schema)), ...RENAMED)
  const { up, found, field } = run(pair, rename(placeIn('sendA body', ['data', '[]'])))
  expect(up({ data: [{ a: '1' }] })).toEqual({ data: [{ b: '1' }] })
  expect(field('data[0].b')).toBe('data[0].a')
  expect(found).toEqual([])
})

test.each(['202', '4XX', 'default'])('an answer with status %s', (status) => {
  const pair = pairOf((schema) => answering(schema, status), ...RENAMED)
  const { at, found } = run(pair, rename(`sendA ${status}`))
  expect(at(status)({ b: '1' })).toEqual({ a: '1' })
  expect(found).toEqual([])
})

test('a lens translates an inline schema of an event', () => {
  const document = (schema: string) =>
    `paths: {}\nwebhooks: { a.done: { post: { requestBody: { ${json(`{ type: object, properties: { data: ${schema} } }`)} }, responses: { "200": { description: ok } } } } }`
  const { event, found } = run(pairOf(document, ...RENAMED), rename(placeIn('event a.done', ['data'])))
  expect(event({ data: { b: '1' } })).toEqual({ data: { a: '1' } })
  expect(found).toEqual([])
})

test('a lens translates a part of a component, wherever that occurs', () => {
  const document = (schema: string) =>
    `${sending(`requestBody: { ${json("{ $ref: '#/components/schemas/X' }")} }, responses: { "200": { description: ok, ${json("{ type: array, items: { $ref: '#/components/schemas/X' } }")} } }`)}\ncomponents: { schemas: { X: { type: object, properties: { "in side": ${schema} } } } }`
  const { up, down, found, refuted } = run(pairOf(document, ...RENAMED), rename(placeIn('X', ['in side'])))
  expect(up({ 'in side': { a: '1' } })).toEqual({ 'in side': { b: '1' } })
  expect(down([{ 'in side': { b: '1' } }])).toEqual([{ 'in side': { a: '1' } }])
  expect(found).toEqual([])
  expect(refuted()).toEqual([])
})

test('a lens translates several places', () => {
  const document = (schema: string) =>
    sending(`requestBody: { ${json(schema)} }, responses: { "200": { description: ok, ${json(schema)} } }`)
  const { up, down, found } = run(pairOf(document, ...RENAMED), rename('sendA body', 'sendA 200'))
  expect([up({ a: '1' }), down({ b: '1' })]).toEqual([{ b: '1' }, { a: '1' }])
  expect(found).toEqual([])
})

describe('what is wrong is said', () => {
  test('a place where no object is translated', () => {
    const { found } = run(
      pairOf((schema) => answering(schema), ...OPTIONAL),
      optional(7, 'sendA 200', placeIn('sendA 200', ['nowhere'])),
    )
    expect(found).toEqual([['change-claims-nothing', expect.stringContaining('sendA 200.nowhere')]])
  })
  test('functions that do not come back, by a proof', () => {
    const types = ['properties: { p: { type: string } }', 'properties: { p: { type: integer } }'] as const
    const wrong = { up: () => 1, down: () => 2 }
    const { found, refuted } = run(
      pairOf((schema) => answering(schema), ...types),
      { kind: 'convert', schemas: ['sendA 200'], property: 'p', ...wrong },
    )
    expect(found).toEqual([])
    expect(refuted().join()).toContain('must be a string')
  })
  test('a proof finds a value of another type in its place', () => {
    const { refuted } = run(
      pairOf((schema) => answering(schema), ...OPTIONAL),
      optional('none', 'sendA 200'),
    )
    expect(refuted().join()).toContain('must be an integer')
  })
})
