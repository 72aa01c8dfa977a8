/** On the real documents the validators say what ajv says, and `explain` finds a fault exactly where they refuse. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { escapePointer } from '../../generators/document/escape-pointer.ts'
import { parseText } from '../../generators/document/load.ts'
import { toJsonSchema } from '../../generators/emit/validators/json-schema.ts'
import { validatedOf } from '../../generators/emit/validators/names.ts'
import { emitValidators } from '../../generators/emit/validators/validators.ts'
import { buildApi } from '../../generators/ir/build.ts'
import { explain } from '../../generators/runtime/explain.ts'
import { makeDocument } from '../toolkit/synthetic.ts'
import { createRandom, valueNear } from './values.ts'

const files = [
  'openapi/2025-06-01.yaml',
  'openapi/2025-11-01.yaml',
  'openapi/2026-02-01.yaml',
  'openapi/2026-05-19.yaml',
]
const report = createReport()
const apis = files.map((file) => buildApi(parseText(file, readFileSync(file, 'utf8'), report)!, report))

const formats = Object.fromEntries(
  Object.entries(fullFormats).flatMap(([name, format]) => {
    if (typeof format === 'object' && 'validate' in format && typeof format.validate === 'function')
      return [[name, format.validate as (text: string) => boolean]]
    if (format instanceof RegExp) return [[name, (text: string) => format.test(text)]]
    return typeof format === 'function' ? [[name, format as (text: string) => boolean]] : []
  }),
)

const folder = mkdtempSync(join('test/emit', '.validators-'))
beforeAll(() => {
  for (const { path, text } of emitValidators(apis)) {
    if (path.endsWith('.js'))
      writeFileSync(
        join(folder, path.replace('/', '-')),
        text.replace("'../validators.js'", "'./validators.js'"),
      )
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

test.each(apis.map((api) => [api.version, api] as const))(
  'the validators of %s agree with ajv',
  async (version, api) => {
    const url = pathToFileURL(resolve(folder, `${version}-validators.js`)).href
    const validators = (await import(/* @vite-ignore */ url)) as Record<string, (value: unknown) => boolean>
    const ajv = new Ajv2020({ strict: false, strictNumbers: true, inlineRefs: false, validateSchema: false })
    addFormats.default(ajv)
    ajv.addFormat('int64', true)
    for (const [name, schema] of api.schemas) {
      ajv.addSchema({ $id: name, ...(toJsonSchema(schema, (each) => each) as object) })
    }
    const random = createRandom(20260519)
    let accepted = 0
    let refused = 0
    for (const [name, schema] of api.schemas) {
      for (let round = 0; round < 40; round++) {
        const value = valueNear(schema, api, random, round % 4 === 0 ? 0 : 0.02)
        const want = ajv.validate(name, value)
        const said = `${name} ${JSON.stringify(value)}`
        expect(validators[name]!(value), said).toBe(want)
        const faults = explain(api.document, `/components/schemas/${escapePointer(name)}`, value, formats)
        expect(faults.length === 0, said).toBe(want)
        if (want) accepted++
        else refused++
      }
    }
    expect(accepted).toBeGreaterThan(refused / 4)
    expect(refused).toBeGreaterThan(accepted / 9)
  },
)

test.each([
  'test/golden/family-odd/openapi/odd.yaml',
  'test/golden/family-numbered/openapi/v10.json',
  'synthetic',
])('refusals of %s are explained, and nothing else', async (file) => {
  const text =
    file === 'synthetic'
      ? JSON.stringify(makeDocument({ resources: 12, version: 3 }))
      : readFileSync(file, 'utf8')
  const api = buildApi(parseText(file, text, report)!, report, false)
  const inside = mkdtempSync(join(folder, 'one-'))
  const path = join(inside, 'validators.js')
  for (const each of emitValidators([api]).filter((file) => !file.path.includes('/')))
    writeFileSync(join(inside, each.path), each.text)
  const validators = (await import(/* @vite-ignore */ pathToFileURL(resolve(path)).href)) as Validators
  const random = createRandom(7)
  const verdicts = [0, 0]
  for (const [name, schema] of api.schemas) {
    for (let round = 0; round < 120; round++) {
      const value = valueNear(schema, api, random, round % 3 === 0 ? 0 : 0.04)
      const fits = validators[validatedOf(api).component(name)]!(value)
      const faults = explain(api.document, `/components/schemas/${escapePointer(name)}`, value, formats)
      expect(faults.length === 0, `${name} ${JSON.stringify(value)} ${JSON.stringify(faults)}`).toBe(fits)
      verdicts[Number(fits)] = verdicts[Number(fits)]! + 1
    }
  }
  expect(Math.min(...verdicts)).toBeGreaterThan(100)
})

type Validators = Record<string, (value: unknown) => boolean>
