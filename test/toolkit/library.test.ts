/** dateline as programs call it. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { check, diff, generate, loadFamily, prove } from '../../generators/cli/library.ts'

const folder = mkdtempSync(join(tmpdir(), 'library-'))
const family = loadFamily(join(folder, 'dateline.config.json'))

beforeAll(() => {
  cpSync('test/toolkit/foreign', folder, { recursive: true })
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(resolve('generators'), join(folder, 'node_modules/dateline'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const codes = ({ findings }: Awaited<ReturnType<typeof check>>) =>
  findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)

test('a program generates, checks and proves a family', { timeout: 60_000 }, async () => {
  const before = await check(family)
  expect([before.ok, new Set(codes(before))]).toEqual([false, new Set(['drift'])])
  const dry = await generate(family, { dryRun: true })
  expect([dry.ok, dry.data.dryRun]).toEqual([true, true])
  expect((await generate(family)).ok).toBe(true)
  expect((await check(family)).ok).toBe(true)
  expect((await prove(family, { seconds: 2, seed: 7 })).ok).toBe(true)
})

test('a program reads the differences between two versions, with the changes that account for them', async () => {
  const { ok, data } = await diff(family, '2030-01-01', '2030-06-01')
  expect([ok, data.old]).toMatchObject([true, { version: '2030-01-01' }])
  expect(data.differences).toContainEqual(
    expect.objectContaining({
      code: 'property-removed',
      claimedBy: [expect.objectContaining({ id: 'name-books' })],
    }),
  )
})

test('a configuration that cannot be read is a finding', async () => {
  const result = await check(loadFamily(join(folder, 'missing.json')))
  expect([result.ok, codes(result)]).toEqual([false, ['config-invalid']])
})
