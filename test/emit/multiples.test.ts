/** `multipleOf` means decimal numbers as they are written: to printed validators, to those that ajv compiles, and to what explains them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { parseText } from '../../generators/document/load.ts'
import { emitValidators } from '../../generators/emit/validators/validators.ts'
import { buildApi } from '../../generators/ir/build.ts'
import { explain } from '../../generators/runtime/explain.ts'

const STEPS = [0.01, 0.1, 0.05, 0.25, 2.5, 1e-7, 3, 1000, 1e21]

const folder = mkdtempSync(join('test/emit', '.multiples-'))
afterAll(() => rmSync(folder, { recursive: true }))

// The second is what ajv compiles: no printer of ours carries `not`.
const schemas = STEPS.map(
  (step, at) =>
    `    Step${at}: { type: number, multipleOf: ${step} }\n` +
    `    Compiled${at}: { type: number, multipleOf: ${step}, not: { const: none } }`,
).join('\n')
const text = `openapi: 3.1.0\ninfo: { title: Steps, version: '1' }\npaths: {}\ncomponents:\n  schemas:\n${schemas}\n`
const report = createReport()
const api = buildApi(parseText('steps.yaml', text, report)!, report, false)
let validators: Readonly<Record<string, (value: unknown) => boolean>>

beforeAll(async () => {
  const files = emitValidators([api]).filter(({ path }) => /^[^/]+\.js$/.test(path))
  for (const { path, text } of files) writeFileSync(join(folder, path), text)
  expect(files.map(({ path }) => path)).toContain('validators-compiled.js')
  const path = resolve(folder, 'validators.js')
  validators = await import(/* @vite-ignore */ pathToFileURL(path).href)
})

/** What all say; a difference between them fails. */
function fits(at: number, value: number): boolean {
  const said = [`Step${at}`, `Compiled${at}`].flatMap((component) => [
    validators[component]!(value),
    explain(api.document, `/components/schemas/${component}`, value, {}).length === 0,
  ])
  expect(new Set(said).size, `${value} of ${STEPS[at]}: ${said}`).toBe(1)
  return said[0]!
}

test.each([
  [0.07, 0.01, true],
  [0.29, 0.01, true],
  [1.1, 0.1, true],
  [-19.99, 0.01, true],
  [4.35, 0.05, true],
  [1e-7, 0.01, false],
  [0.075, 0.01, false],
  [0.1 + 0.2, 0.1, false],
  [1e300, 0.01, true],
  [1e22, 1e21, true],
  [1.5e21, 1e21, false],
  [9007199254740992, 3, false],
  [0, 0.01, true],
  [-0, 3, true],
  [Number.MIN_VALUE, 0.01, false],
])('%d is a multiple of %d: %s', (value, step, want) => {
  expect(fits(STEPS.indexOf(step), value)).toBe(want)
})

test('decimals of up to 15 digits are multiples exactly when their digits are', () => {
  const decimal = fc.record({
    digits: fc.oneof(fc.integer({ min: -9999, max: 9999 }), fc.integer({ min: -1e15 + 1, max: 1e15 - 1 })),
    places: fc.integer({ min: 0, max: 9 }),
    at: fc.nat(STEPS.length - 1),
    factor: fc.integer({ min: -99_999, max: 99_999 }),
    exact: fc.boolean(),
  })
  const seen = [0, 0]
  fc.assert(
    fc.property(decimal, ({ digits, places, at, factor, exact }) => {
      const [stepDigits, stepExponent] = STEPS[at]!.toExponential().split('e') as [string, string]
      const [whole, fraction = ''] = stepDigits.split('.') as [string, string?]
      const step = { digits: BigInt(whole + fraction), places: fraction.length - Number(stepExponent) }
      const value = exact
        ? { digits: step.digits * BigInt(factor), places: step.places }
        : { digits: BigInt(digits), places }
      const common = Math.max(value.places, step.places, 0)
      const scale = (each: typeof value) => each.digits * 10n ** BigInt(common - each.places)
      const want = scale(value) % scale(step) === 0n
      expect(fits(at, Number(`${value.digits}e${-value.places}`))).toBe(want)
      seen[Number(want)]! += 1
    }),
    { numRuns: 3000, seed: 7 },
  )
  expect(Math.min(...seen)).toBeGreaterThan(500)
})
