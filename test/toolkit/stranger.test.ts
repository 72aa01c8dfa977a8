/**
 * A stranger's API, adopted only for its checks: an excerpt of two published versions of Clerk's Backend API. The drafts
 * for its next version are in `stranger/drafts.txt` (`UPDATE_GOLDEN=1` writes them).
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { importTypeScript } from '../../generators/change/load-changes.ts'
import { main } from '../../generators/cli.ts'
import type { Diagnostic } from '../../generators/diagnostics/diagnostic.ts'

const SOURCES = resolve('test/toolkit/stranger')
const [OLD, NEXT] = ['2025-04-10', '2025-11-10'] as const
const DRAFTS = join(SOURCES, 'drafts.txt')

let folder: string
const before = process.cwd()
beforeEach(() => {
  folder = mkdtempSync('test/toolkit/.stranger-')
  process.chdir(folder)
})
afterEach(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true })
})

async function dateline(...words: readonly string[]) {
  const out: string[] = []
  const exit = await main([...words, '--json'], { out: (line) => out.push(line), error: () => undefined })
  const { findings } = JSON.parse(out.join('\n')) as { readonly findings: readonly Diagnostic[] }
  return { exit, findings, errors: findings.filter(({ severity }) => severity === 'error') }
}

const lensesOf = (text: string): string => /lenses: \[(.*)\],\n/.exec(text)?.[1] ?? ''

/** What the maintainer decides, by property. What the newer version does not say is empty. */
const FILLED: Readonly<Record<string, string>> = {
  amount: 'object.fee?.amount ?? 0',
  amount_formatted: "object.fee?.amount_formatted ?? ''",
  annual_monthly_amount: 'object.annual_monthly_fee?.amount ?? 0',
  annual_monthly_amount_formatted: "object.annual_monthly_fee?.amount_formatted ?? ''",
  annual_amount: 'object.annual_fee?.amount ?? 0',
  annual_amount_formatted: "object.annual_fee?.amount_formatted ?? ''",
  currency: "object.fee?.currency ?? ''",
  currency_symbol: "object.fee?.currency_symbol ?? ''",
  payer_type: '[object.for_payer_type]',
  time: 'object.date',
  plan: 'null',
  features: '[]',
  created_at: '0',
  updated_at: '0',
}

/** @returns the draft as its author completes it. */
function complete(text: string): string {
  const property = /'(\w+)', (?:decide|\{ loss)/.exec(lensesOf(text))?.[1] ?? ''
  return (
    text
      .replace('between, decide', 'between')
      .replaceAll(/(canceled|expired): decide\('.*?'\)/g, "$1: 'ended'")
      .replace(/down: decide\('.*?'\)/, `down: (object) => ${FILLED[property] ?? "''"}`)
      .replaceAll(/decide\('.*?'\)/g, FILLED[property] ?? "''")
      // The order of lenses about one property does not matter.
      .replace(/(v\.optional\(.*?\)), (v\.nullable\(.*?\))/, '$2, $1')
  )
}

test('the next version of a stranger is refused with drafts, and accepted once they are completed', {
  timeout: 60_000,
}, async () => {
  copyFileSync(join(SOURCES, `${OLD}.yaml`), 'service.yaml')
  expect((await dateline('adopt', 'service.yaml', '--date', OLD)).exit).toBe(0)
  expect((await dateline('generate')).exit).toBe(0)
  expect((await dateline('check')).errors).toEqual([])

  copyFileSync(join(SOURCES, `${NEXT}.yaml`), 'service.yaml')
  const { exit, errors } = await dateline('check')
  expect([exit, errors[0]?.code]).toEqual([1, 'source-changed'])
  expect(errors[0]?.message).toBe('the service differs from 2025-04-10: 60 differences, 41 of them breaking')
  expect((await dateline('freeze', NEXT)).exit).toBe(0)

  const refused = await dateline('check')
  expect(refused.errors.map(({ draft }) => draft?.text.replaceAll('next', NEXT))).toEqual(
    errors.slice(1).map(({ draft }) => draft?.text.replaceAll('next', NEXT)),
  )
  const drafts = refused.errors.flatMap(({ draft }) => draft ?? [])
  const listed = drafts.map(({ file, text }) => `${file}: ${lensesOf(text)}\n`).join('')
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(DRAFTS, listed)
  expect(listed).toBe(readFileSync(DRAFTS, 'utf8'))

  const [{ file: kept, text: own }, ...rest] = drafts as [(typeof drafts)[number], ...typeof drafts]
  mkdirSync(dirname(kept), { recursive: true })
  writeFileSync(kept, `// Mine.\n${own}`)
  const fixed = await dateline('generate', '--fix')
  expect(fixed.findings.filter(({ code }) => code === 'draft-written').map(({ message }) => message)).toEqual(
    expect.arrayContaining([
      `wrote versions/${NEXT}/drop-period.ts`,
      `wrote versions/${NEXT}/fill-email.ts, which leaves 2 decisions`,
      `wrote ${rest.length} drafts; 34 decisions left`,
    ]),
  )
  expect(readFileSync(kept, 'utf8')).toContain('// Mine.')
  expect(new Set(fixed.errors.map(({ code }) => code))).toEqual(new Set(['change-undecided']))
  const amount = fixed.errors.find(({ message }) => message.startsWith('drop-amount:'))
  expect([amount?.message, amount?.place]).toEqual([
    'drop-amount: decide how amount follows from the new object',
    { file: `versions/${NEXT}/drop-amount.ts`, line: 13, column: 69, pointer: '' },
  ])
  // A program that runs anyway fails with the same question.
  copyFileSync(`versions/${NEXT}/drop-amount.ts`, 'undecided.ts')
  await expect(importTypeScript(resolve('undecided.ts'))).rejects.toThrow(
    `${resolve('undecided.ts')}:13: undecided: how amount follows from the new object. Replace decide(…)`,
  )

  for (const { file, text } of drafts) writeFileSync(file, complete(text))
  expect((await dateline('generate')).errors).toEqual([])
  expect((await dateline('prove', '--seconds', '5', '--seed', '1')).errors).toEqual([])
})
