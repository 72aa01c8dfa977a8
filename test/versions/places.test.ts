/**
 * Wherever a component may stand, its values are translated, or the place is named: nothing is passed on in silence. The
 * cases are grown from every kind of place, in both dialects, two deep; what is emitted runs on real payloads.
 */

import { expect, test } from 'vitest'
import type { Lens } from '../../generators/change/change.ts'
import { createReport, type Diagnostic } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'
import {
  type BoundFunction,
  emitTranslations,
  type TranslationBindings,
} from '../../generators/emit/translations/translations.ts'
import { buildApi } from '../../generators/ir/build.ts'
import type { Api } from '../../generators/ir/model.ts'
import { explain } from '../../generators/runtime/explain.ts'
import { runEmitted, type Translate } from './emitted.ts'
import {
  CARRIERS,
  type Carrier,
  type Dialect,
  documentOf,
  HOLDERS,
  type Holder,
  type Json,
} from './places.ts'

/** A difference between two versions of a component, with a value of each. */
interface Difference {
  readonly name: string
  readonly old: Json
  readonly next: Json
  readonly lens: Lens
  readonly values: readonly [unknown, unknown]
}

const text = { type: 'string' }
const DIFFERENCES: readonly Difference[] = [
  {
    name: 'a renamed property',
    old: { type: 'object', required: ['a'], properties: { a: text } },
    next: { type: 'object', required: ['b'], properties: { b: text } },
    lens: { kind: 'rename', schemas: ['Thing'], from: 'a', to: 'b' },
    values: [{ a: '1' }, { b: '1' }],
  },
  {
    name: 'a converted property',
    old: { type: 'object', required: ['n'], properties: { n: text } },
    next: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } },
    lens: { kind: 'convert', schemas: ['Thing'], property: 'n', up: Number, down: String },
    values: [{ n: '7' }, { n: 7 }],
  },
  {
    name: 'a renamed member',
    old: { type: 'string', enum: ['red', 'blue'] },
    next: { type: 'string', enum: ['crimson', 'blue'] },
    lens: { kind: 'values', schemas: ['Thing'], rename: { red: 'crimson' }, merge: {} },
    values: ['red', 'crimson'],
  },
]

interface Case {
  readonly dialect: Dialect
  readonly difference: Difference
  readonly carried: Carrier
  readonly holders: readonly Holder[]
}

const VERSIONS = ['2030-01-01', '2030-06-01'] as const

function readApi(document: Json): Api {
  const report = createReport()
  const loaded = parseText(
    `${(document.info as Json).version}.json`,
    JSON.stringify(document, null, 1),
    report,
  )
  if (!loaded) throw new Error(JSON.stringify(report.diagnostics))
  return buildApi(loaded, report, false)
}

const nameOf = ({ dialect, difference, carried, holders }: Case): string =>
  [dialect, difference.name, carried.name, ...holders.map(({ name }) => name)].join(' · ')

type Verdict = 'translated' | 'named' | 'in silence' | 'wrong'

/** Runs one case. @returns what became of the value, with what was said. */
function run({ dialect, difference, carried, holders }: Case): {
  verdict: Verdict
  said: readonly Diagnostic[]
} {
  const [oldest, newest] = VERSIONS
  const documents = [
    documentOf(dialect, oldest, difference.old, carried, holders),
    documentOf(dialect, newest, difference.next, carried, holders),
  ]
  const apis = documents.map(readApi)
  const change = {
    id: 'a',
    why: '',
    lenses: [difference.lens],
    version: newest,
    file: `versions/${newest}/a.ts`,
  }
  const report = createReport()
  const translations = emitTranslations(apis, [change], report, 'generated')
  const said = report.diagnostics
  const [old, next] = difference.values.map((value) =>
    holders.reduce((inner, each) => each.value(inner), value),
  )
  const [given, wanted] = carried.direction === 'up' ? [old, next] : [next, old]
  const bindings = translations.bindings.get(oldest)!
  const { by } = carried
  const bound = bindingOf(by, bindings, apis[0]!)
  const translate = runEmitted(translations, [change]).find(bound)
  const got = translate ? translatedBy(translate, given, by === 'query' || by === 'header') : given
  if (JSON.stringify(got) === JSON.stringify(wanted)) return { verdict: 'translated', said }
  if (said.some((each) => isOnTheWay(each, apis))) return { verdict: 'named', said }
  return { verdict: translate ? 'wrong' : 'in silence', said }
}

/** The function that a translation was emitted as for what carries the value. */
function bindingOf(
  by: Carrier['by'],
  bindings: TranslationBindings,
  { operations }: Api,
): BoundFunction | undefined {
  const [operation] = operations
  switch (by) {
    case undefined:
      return undefined
    case 'body':
      return bindings.upBody(operation!)
    case 'query':
      return bindings.upQuery(operation!)
    case 'header':
      return bindings.upHeaders(operation!)
    case 'answer':
      return bindings.down(operation!)
    case 'event':
      return bindings.downEvent('a.done')
    default: {
      if ('form' in by) return bindings.upForm(operation!, by.form)
      const downs = bindings.downs(operation!)
      return downs.get(by.status) ?? downs.get(`${by.status[0]}XX`) ?? downs.get('default')
    }
  }
}

const copyOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

function translatedBy(translate: Translate, given: unknown, isParameter: boolean): unknown {
  try {
    const got: unknown = translate(copyOf(isParameter ? { q: given } : given))
    return copyOf(isParameter ? (got as Json).q : got)
  } catch (error) {
    return String(error)
  }
}

/** A finding that says what is not translated, with a line of a document, around or above the component itself. */
function isOnTheWay({ code, place }: Diagnostic, apis: readonly Api[]): boolean {
  if (!/^(value-not-translated|translation-union)$/.test(code) || !place || place.line < 1) return false
  const api = apis.find(({ file }) => file === place.file)
  if (!api || !/^\/(paths|webhooks|components)\//.test(place.pointer)) return false
  return !place.pointer.startsWith('/components/schemas/Thing/')
}

/** Values of the old document fit it: a case that no caller could send shows nothing. */
function mismatch({ dialect, difference, carried, holders }: Case): string | undefined {
  if (!carried.by) return undefined
  const document = documentOf(dialect, VERSIONS[0], difference.old, carried, holders)
  const value = holders.reduce((inner, each) => each.value(inner), difference.values[0])
  const api = readApi(document)
  const schema =
    (carried.by === 'query' || carried.by === 'header'
      ? api.operations[0]!.parameters[0]!.schema
      : undefined) ??
    api.operations[0]?.body?.contents[0]?.schema ??
    api.events[0]?.payload?.schema ??
    api.operations[0]?.responses.find(({ contents }) => contents.length > 0)?.contents[0]?.schema
  return schema && explain(document, schema.place.pointer, value, {})[0]?.issue
}

const only = (dialect: Dialect) => (each: { readonly dialects: readonly Dialect[] }) =>
  each.dialects.includes(dialect)

test('a callback is named unless its operation states that the handler translates it', () => {
  const carried = CARRIERS.find(({ name }) => name === 'a callback')!
  const stated: Carrier = {
    ...carried,
    document: (schema) => {
      const document = JSON.stringify(carried.document(schema))
      return JSON.parse(document.replace('"requestBody"', '"x-translated-by":"handler","requestBody"'))
    },
  }
  const codes = [carried, stated].map((each) =>
    run({ dialect: '3.1', difference: DIFFERENCES[2]!, carried: each, holders: [] }).said.map(
      ({ code }) => code,
    ),
  )
  expect(codes).toEqual([['value-not-translated'], []])
})

const DIALECTS: readonly Dialect[] = ['3.0', '3.1']

/** Every one of them with every way to send it. */
const shallow: Case[] = DIALECTS.flatMap((dialect) =>
  CARRIERS.filter(only(dialect)).flatMap((carried) =>
    HOLDERS.filter(only(dialect)).flatMap((holder, row) =>
      // What nothing carries makes no difference between differences: they take turns.
      DIFFERENCES.filter((_, index) => carried.by || index === row % DIFFERENCES.length).map(
        (difference) => ({
          dialect,
          difference,
          carried,
          holders: [holder],
        }),
      ),
    ),
  ),
)

const DEEP = CARRIERS.filter(({ name }) => name === 'a body' || name === 'an answer')

/** Of so many pairs one is looked at; with EVERY_PLACE=1 it is every one (`npm run prove`). */
const STEP = process.env.EVERY_PLACE === undefined ? 3 : 1

/** Every one in every other; differences and ways to send take turns. */
const deep: Case[] = DIALECTS.flatMap((dialect) =>
  HOLDERS.filter(only(dialect)).flatMap((inner, row) =>
    HOLDERS.filter(only(dialect)).map((outer, column) => ({
      dialect,
      difference: DIFFERENCES[(row + column) % DIFFERENCES.length]!,
      carried: DEEP[(row + 2 * column) % DEEP.length]!,
      holders: [inner, outer],
    })),
  ),
).filter((_, index) => index % STEP === 0)

function count(cases: readonly Case[]): Record<Verdict, string[]> {
  const counted: Record<Verdict, string[]> = { translated: [], named: [], 'in silence': [], wrong: [] }
  for (const each of cases) counted[run(each).verdict].push(nameOf(each))
  return counted
}

test('payloads of the cases fit their documents', () => {
  const wrong = [...shallow, ...deep].flatMap((each) => {
    const issue = mismatch(each)
    return issue === undefined ? [] : [`${nameOf(each)}: ${issue}`]
  })
  expect(wrong).toEqual([])
})

/** What no translation carries: a document that needs it has to be written another way. */
const NAMED = [
  'a position',
  'an heir of what has a discriminator',
  'contains',
  'dependentSchemas',
  'else',
  'items after positions',
  'names by pattern',
  'not',
  'unevaluatedItems',
  'unevaluatedProperties',
]

test('wherever a component stands, its values are translated or the place is named', {
  timeout: 300_000,
}, () => {
  const { translated, named, ...lost } = count(shallow)
  expect(lost).toEqual({ 'in silence': [], wrong: [] })
  expect(translated.length).toBeGreaterThan(1500)
  const inBodies = named
    .filter((name) => name.includes(' · a body · '))
    .map((name) => name.split(' · ').at(-1))
  expect([...new Set(inBodies)].sort()).toEqual(NAMED)
})

test('a difference is translated two structures deep as well', { timeout: 300_000 }, () => {
  const { translated, named, ...lost } = count(deep)
  expect(lost).toEqual({ 'in silence': [], wrong: [] })
  expect(translated.length).toBeGreaterThan(named.length)
})
