/** What can be found is documented, and what is documented can be found. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const page = readFileSync('generators/findings.md', 'utf8')

function codesUnder(heading: string): string[] {
  const section = page.split(/^## /m).find((each) => each.startsWith(heading)) ?? ''
  const cells = section.split('\n').flatMap((line) => /^\| (`[^|]*) \|/.exec(line)?.[1] ?? [])
  return cells.flatMap((cell) =>
    [...cell.replace(/\(.*\)/, '').matchAll(/`([a-z-]+)`/g)].map((match) => match[1]!),
  )
}

test('every code of a difference has its row, once', () => {
  const source = readFileSync('generators/diff/difference.ts', 'utf8')
  const union = source.slice(
    source.indexOf('export type DifferenceCode'),
    source.indexOf('export interface Proposal'),
  )
  const codes = [...union.matchAll(/\| '([a-z-]+)'/g)].map((match) => match[1]!)
  expect(codes.length).toBeGreaterThan(60)
  expect(codesUnder('Differences').sort()).toEqual(codes.sort())
})

test('every code is explained by the command', async () => {
  const { explainCode } = await import('../../generators/cli/explain.ts')
  for (const section of ['Findings', 'Differences'])
    for (const code of codesUnder(section)) expect(explainCode(code).lines.length).toBeGreaterThan(1)
  expect(explainCode('break-unclaimed').lines[1]).toMatch(/^When: No change of the version accounts for/)
  expect(() => explainCode('break-unclaimd')).toThrow('did you mean break-unclaimed?')
})

test('every code of a difference is held by a test', () => {
  const tables = ['diff.table.ts', 'diff.test.ts', 'diff-operations.test.ts']
    .map((name) => readFileSync(`test/toolkit/${name}`, 'utf8'))
    .join('\n')
  expect(codesUnder('Differences').filter((code) => !tables.includes(code))).toEqual([])
})

test('every refusal of the gate has its row', () => {
  const source = [
    'gate/gate.ts',
    'change/load-changes.ts',
    'gate/examples.ts',
    'gate/change-index.ts',
    'gate/missing-values.ts',
  ]
    .map((name) => readFileSync(`generators/${name}`, 'utf8'))
    .join('\n')
  const codes = [...source.matchAll(/code: '([a-z-]+)'/g)].map((match) => match[1]!)
  expect([...new Set(codes)].filter((code) => !codesUnder('Findings').includes(code))).toEqual([])
})
