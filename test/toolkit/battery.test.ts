/** How sure the gate is, on pairs of documents with one difference each. `npm run bench:gate` prints them. */

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DISAGREEMENTS } from './battery/disagreements.ts'
import { askOracle, refusedValues } from './battery/oracle.ts'
import { checkPair, PAIRS, PAIRS_OF_OTHERS, schemaPair, scoreGate } from './battery/pairs.ts'

test.each([
  ['of our own', PAIRS, 1700],
  ['for what the cases of other tools show', PAIRS_OF_OTHERS, 350],
] as const)('no break passes unnamed, and nothing is named that is none: pairs %s', (_, all, least) => {
  const { pairs, recall, missed, falseAlarms } = scoreGate(all)
  expect(pairs).toBeGreaterThan(least)
  expect(missed).toEqual([])
  expect(recall).toBe(1)
  expect(falseAlarms).toEqual([])
})

test('the battery has both dialects, and as many pairs that break as that do not', () => {
  for (const dialect of ['3.0', '3.1']) {
    const own = PAIRS.filter(({ name }) => name.startsWith(dialect))
    expect(own.length).toBeGreaterThan(400)
    expect(own.filter(({ want }) => want === 'b').length / own.length).toBeGreaterThan(0.3)
    expect(own.filter(({ want }) => want !== 'b').length / own.length).toBeGreaterThan(0.3)
  }
})

test.each(DISAGREEMENTS)(
  'other tools disagree, and a value decides: $edit',
  ({ edit, use, old, next, witness }) => {
    const [sent, read] = use === 'request' ? [old, next] : [next, old]
    const { got } = checkPair(schemaPair(old, next, use))
    expect(got === 'b').toBe(witness !== undefined)
    if (witness === undefined) expect(refusedValues(sent, read)).toEqual([])
    else expect(refusedValues(sent, read, [witness])).toEqual([witness])
    expect(readFileSync('docs/toolkit/comparison.md', 'utf8')).toContain(
      `| ${edit} | ${witness === undefined ? 'none' : `\`${JSON.stringify(witness)}\``} |`,
    )
  },
)

test('a value that one schema accepts and another refuses is named', () => {
  const { pairs, missed } = askOracle(23)
  expect(pairs).toBeGreaterThan(1000)
  expect(missed).toEqual([])
})
