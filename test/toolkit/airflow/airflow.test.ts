/**
 * Migrations that others wrote by hand, as lenses: the gate accepts them, they compile, nothing refutes them, and their translations
 * do to generated values what the functions of the version changes do.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import fc from 'fast-check'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type LoadedChange, loadChanges } from '../../../generators/change/load-changes.ts'
import { createReport } from '../../../generators/diagnostics/diagnostic.ts'
import { responseFor } from '../../../generators/diff/answers.ts'
import { emitTranslations } from '../../../generators/emit/translations/translations.ts'
import { printDocumentTypes } from '../../../generators/emit/types/types.ts'
import { checkSteps } from '../../../generators/gate/gate.ts'
import { claimSteps } from '../../../generators/gate/steps.ts'
import type { Api } from '../../../generators/ir/model.ts'
import { printDraft } from '../../../generators/propose/draft-file.ts'
import { proveSteps } from '../../../generators/prove/family.ts'
import { refute } from '../../../generators/prove/law.ts'
import { jsonOf } from '../../../generators/translate/transition.ts'
import { arbitrariesOf } from '../../../generators/values/arbitrary.ts'
import { sent } from '../../../generators/values/validity.ts'
import { read } from '../../ir/document.ts'
import { programOf } from '../../versions/compile.ts'
import { runEmitted } from '../../versions/emitted.ts'
import { BASE, type Body, type Documented, MIGRATIONS } from './migrations.ts'

const VERSIONS = ['2025-03-01', ...MIGRATIONS.map(({ version }) => version)]
const SEED = 1
const SAMPLES = 20

const folder = mkdtempSync('test/toolkit/.airflow-')
afterAll(() => rmSync(folder, { recursive: true }))

/** The document of each version, oldest first. */
function readVersions(): Api[] {
  let { paths, schemas }: Documented = BASE
  return [undefined, ...MIGRATIONS].map((migration, index) => {
    const api = structuredClone({ paths, schemas })
    migration?.edit(api)
    ;({ paths, schemas } = api)
    const info = { title: 'Execution API', version: VERSIONS[index] }
    return read(JSON.stringify({ openapi: '3.1.0', info, paths, components: { schemas } }), '').api
  })
}

const apis = readVersions()
const newest = apis.at(-1)!
let changes: readonly LoadedChange[]

beforeAll(async () => {
  for (const [index, { version, changes: names, helpers = '', lenses = {} }] of MIGRATIONS.entries()) {
    for (const [id, lens] of Object.entries(lenses)) {
      const types = { old: `../${VERSIONS[index]}-types.ts`, next: `../${version}-types.ts` }
      const file = join(folder, version, `${id}.ts`)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, printDraft({ id, why: `'${names.join(', ')}'`, lens }, types) + helpers)
    }
  }
  const report = createReport()
  changes = await loadChanges(folder, VERSIONS, report)
  report.finish()
})

test('each version change has its entry once, and those with functions on names or values have lenses', () => {
  const names = MIGRATIONS.flatMap((each) => each.changes)
  expect([MIGRATIONS.length, names.length, new Set(names).size]).toEqual([30, 53, 53])
  expect(changes.map(({ id }) => id)).toEqual([
    'remove-runtime-checks',
    'widen-upstream-map-indexes',
    'remove-offset',
    'allow-null-conf',
    'allow-null-start-date',
    'remove-upstream-map-indexes',
    'encode-next-kwargs',
    'move-previous-run',
    'describe-conflicts',
  ])
})

test('the lenses compile over the types of both versions', async () => {
  const root = resolve(folder)
  const files = new Map(changes.map(({ file }) => [resolve(file), readFileSync(file, 'utf8')]))
  for (const [index, { version }] of apis.entries())
    if (changes.some((each) => each.version === version || each.version === VERSIONS[index + 1]))
      files.set(join(root, `${version}-types.ts`), await printDocumentTypes(apis[index]!.document))
  const found = ts.getPreEmitDiagnostics(programOf(files))
  expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))).toEqual([])
})

test('the gate accepts the family, and no value is found that its lenses translate incorrectly', () => {
  const steps = claimSteps(apis, changes)
  const errors = checkSteps(steps, { versions: folder, out: folder }).filter(
    (each) => each.severity === 'error',
  )
  expect(errors.map(({ code, message }) => `${code}: ${message}`)).toEqual([])
  const laws = proveSteps(steps)
  expect(laws.length).toBeGreaterThan(30)
  expect(laws.flatMap((law) => refute(law, { runs: 10, seed: SEED })?.message ?? [])).toEqual([])
})

/** What the functions of all version changes newer than a version make of an answer. */
function downgrade(version: string, answer: string, value: Body): Body {
  const newer = MIGRATIONS.filter((each) => each.version > version).reverse()
  return newer.reduce((body, { oracle }) => oracle?.[answer]?.(body) ?? body, structuredClone(value))
}

test('answers reach each older version as the functions of the version changes write them', () => {
  const translations = emitTranslations(apis, changes, createReport(), 'generated')
  const emitted = runEmitted(translations, changes)
  const source = {
    api: newest,
    domains: {},
    members: () => undefined,
    preferred: () => [],
    freed: () => undefined,
  }
  const valuesOf = arbitrariesOf({ ...source, hidden: 'writeOnly' })
  let compared = 0
  for (const answer of [
    'runTaskInstance',
    'runTaskInstance 409',
    'getDagRun',
    'getTaskInstance',
    'listAssetEvents',
  ]) {
    const [id, status] = answer.split(' ') as [string, string?]
    const response = responseFor(newest.operations.find((each) => each.id === id)!, status ?? '200')!
    const values = fc.sample(valuesOf(jsonOf(response)!), { numRuns: SAMPLES, seed: SEED })
    for (const { version, operations } of apis.slice(0, -1)) {
      const operation = operations.find((each) => each.id === id)
      if (!operation) continue
      const bindings = translations.bindings.get(version)!
      const down = emitted.find(
        status === undefined ? bindings.down(operation) : bindings.downs(operation).get(status),
      )
      for (const value of values) {
        const given = sent(value) as Body
        const got = down ? down(structuredClone(given)) : given
        expect(sent(got), `${answer} in ${version}`).toEqual(downgrade(version, answer, given))
        compared += 1
      }
    }
  }
  expect(compared).toBeGreaterThan(1500)
})

test('requests of older versions reach handlers as they are, without the parameter that is gone', () => {
  const translations = emitTranslations(apis, changes, createReport(), 'generated')
  const emitted = runEmitted(translations, changes)
  const asked = apis[0]!.operations.find(({ id }) => id === 'getXComSlice')!
  const up = emitted.find(translations.bindings.get(VERSIONS[0]!)!.upQuery(asked))!
  expect(up({ start: 1, offset: 2 })).toEqual({ start: 1 })
  const translated = apis.flatMap(({ version, operations }) =>
    operations.filter((each) => translations.bindings.get(version)?.upBody(each)).map(({ id }) => id),
  )
  expect(translated).toEqual([])
})
