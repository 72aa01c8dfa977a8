/** The examples of the lens reference: their values translate as the page says, and their code compiles over both versions. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { LENS_EXAMPLES, type LensExample } from '../../../docs/toolkit/build/lens-examples.ts'
import { documentsOf, EXAMPLE_VERSIONS, runExample } from '../../../docs/toolkit/build/run-example.ts'
import { printDraft } from '../../../generators/propose/draft-file.ts'

const folder = mkdtempSync(join(resolve('test/docs'), '.lenses-'))
afterAll(() => rmSync(folder, { recursive: true }))

const examples = Object.entries(LENS_EXAMPLES)

/** No document shows behavior. */
const isBehaviour = ({ lens }: LensExample) => lens.startsWith('v.behaviour(')

test.each(examples)('the example of %s accounts for its differences', (_, example) => {
  const { open, accounted } = runExample(example)
  expect(open).toEqual([])
  if (!isBehaviour(example)) expect(accounted.length).toBeGreaterThan(0)
})

test('an example without its lens leaves a difference open', () => {
  const open = examples.filter(
    ([, example]) =>
      !isBehaviour(example) && runExample({ lens: '', ...withoutValues(example) }).open.length === 0,
  )
  // New members of lists, and values that are only left out, break nothing.
  expect(open.map(([name]) => name)).toEqual([])
})

const withoutValues = ({ up: _up, down: _down, lens: _lens, ...documents }: LensExample) => documents

test('the examples compile over the types of both versions', { timeout: 120_000 }, () => {
  symlinkSync(resolve('generators'), join(folder, 'dateline'))
  for (const [name, example] of examples) {
    const own = join(folder, name)
    mkdirSync(join(own, 'openapi'), { recursive: true })
    mkdirSync(join(own, 'versions', EXAMPLE_VERSIONS[1]), { recursive: true })
    documentsOf(example).forEach((text, at) => {
      writeFileSync(join(own, 'openapi', `${EXAMPLE_VERSIONS[at]}.yaml`), text)
    })
    const change = printDraft(
      { id: 'example', lens: example.lens },
      {
        old: `../../generated/${EXAMPLE_VERSIONS[0]}/types.ts`,
        next: `../../generated/${EXAMPLE_VERSIONS[1]}/types.ts`,
      },
    )
    writeFileSync(join(own, 'versions', EXAMPLE_VERSIONS[1], 'example.ts'), change)
  }
  generateTypes(examples.map(([name]) => name))
  writeFileSync(join(folder, 'tsconfig.json'), TSCONFIG)
  const tsc = spawnSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder], {
    encoding: 'utf8',
  })
  expect(tsc.stdout).toBe('')
})

const TSCONFIG = JSON.stringify({
  extends: '../../../tsconfig.json',
  compilerOptions: { lib: ['ES2024', 'ESNext.Iterator', 'DOM', 'DOM.Iterable'] },
  include: ['*/versions/**/*.ts'],
  exclude: [],
})

/** Generates in one process, because starting one for each example takes longer than the work. */
function generateTypes(names: readonly string[]): void {
  const configs = names.map((name) => {
    const file = join(folder, name, 'dateline.config.json')
    const config = { documents: './openapi', versions: './versions', out: './generated', emit: ['types'] }
    writeFileSync(file, JSON.stringify(config))
    return file
  })
  const program = `
    import { generate, loadFamily } from 'dateline'
    for (const file of ${JSON.stringify(configs)}) {
      const { ok, findings } = await generate(loadFamily(file))
      if (!ok) throw new Error(file + ': ' + JSON.stringify(findings.filter((each) => each.severity === 'error')))
    }`
  execFileSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', stdio: 'pipe' })
}
