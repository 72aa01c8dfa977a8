/**
 * The proof of every translation, and the proof that the proof can fail. `npm run prove` looks longer: PROOF_RUNS sets
 * how many values each claim is tried with, PROOF_SEED which ones.
 */
import { expect, test } from 'vitest'
import { runEmitted } from './emitted.ts'
import { domains, emittedTables, generatedTables, loadFamily } from './family.ts'
import { type Claim, lawsOf, refute } from './proof.ts'

const RUNS = Number(process.env.PROOF_RUNS ?? 50)
const SEED = Number(process.env.PROOF_SEED ?? 20260519)
const MINUTES = 60_000

const { apis, changes, translations } = await loadFamily()

test(
  'every version, operation and event: what is translated fits the other document',
  () => {
    const claims = lawsOf(apis, changes, domains, generatedTables())
    expect(claims.length).toBeGreaterThan(300)
    expect(claims.flatMap((claim) => refute(claim, RUNS, SEED) ?? [])).toEqual([])
  },
  30 * MINUTES,
)

test(
  'each function, replaced by the identity, is missed',
  () => {
    const emitted = runEmitted(translations, changes)
    const claims = lawsOf(apis, changes, domains, emittedTables(translations, emitted))
    const callers = new Map<string, Claim[]>()
    for (const claim of claims) {
      emitted.watch.called.clear()
      refute(claim, 8, SEED)
      for (const name of emitted.watch.called) callers.set(name, [...(callers.get(name) ?? []), claim])
    }
    expect(emitted.functions.length).toBeGreaterThan(80)
    const unnoticed = emitted.functions.filter((name) => {
      emitted.watch.replaced = name
      const noticed = (callers.get(name) ?? []).some((claim) => refute(claim, 40, SEED) !== undefined)
      emitted.watch.replaced = undefined
      return !noticed
    })
    expect(unnoticed).toEqual([])
  },
  5 * MINUTES,
)

test('a counterexample is shrunk, names the line of the document, and comes again with its seed', () => {
  const emitted = runEmitted(translations, changes)
  const claims = lawsOf(apis, changes, domains, emittedTables(translations, emitted))
  const claim = claims.find((each) => each.name === '2026-02-01 listSettlementLines answer')!
  emitted.watch.replaced = '2026-02-01/SettlementLineType_down'
  const failure = refute(claim, RUNS, SEED)!
  expect(failure.fault).toMatch(
    /^openapi\/2026-02-01\.yaml:\d+ data\[0\]\.type does not list "(card|network|dispute|program)_/,
  )
  expect((failure.counterexample as { data: unknown[] }).data).toHaveLength(1)
  expect(refute(claim, RUNS, SEED)).toEqual(failure)
})
