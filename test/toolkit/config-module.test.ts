/** A configuration that is a module: the same members as in JSON, and errors that name file and member. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { check, generate, loadFamily } from '../../generators/cli/library.ts'

const root = mkdtempSync(join(tmpdir(), 'config-module-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Makes a family whose only configuration is a module. */
function makeFamily(name: string, extension: string, config: string) {
  const folder = join(root, name)
  cpSync('test/toolkit/foreign/openapi', join(folder, 'openapi'), { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('generators'), join(folder, 'node_modules/dateline'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, `dateline.config${extension}`), config)
  return loadFamily(join(folder, 'dateline.config.json'))
}

test.each(['.ts', '.mjs', '.js'])(
  'dateline.config%s is found and read',
  { timeout: 60_000 },
  async (extension) => {
    const members = "{ documents: './openapi', out: './generated', emit: ['types'] }"
    const family = makeFamily(
      `reads${extension}`,
      extension,
      `import { defineConfig } from 'dateline'\n\nexport default defineConfig(${members})\n`,
    )
    expect((await generate(family)).ok).toBe(true)
    expect((await check(family)).ok).toBe(true)
  },
)

test('an unknown member is reported with its line', async () => {
  const family = makeFamily(
    'unknown',
    '.mjs',
    "export default {\n  documents: './openapi',\n  outt: './x',\n}\n",
  )
  const { findings } = await check(family)
  expect(findings).toMatchObject([
    { code: 'config-invalid', message: 'unknown member outt', place: { line: 3 } },
  ])
})

test('a module that throws is reported with its file', async () => {
  const { findings } = await check(makeFamily('throws', '.mjs', "throw new Error('no')\n"))
  expect(findings[0]!.message).toMatch(/dateline\.config\.mjs cannot be loaded: no$/)
})
