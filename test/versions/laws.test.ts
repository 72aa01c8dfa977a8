/** The laws of lenses: there and back is where one was, but for what a change declares as lost. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { namesTable } from '../../generators/translate/model.ts'
import blockCategories from '../../versions/2026-05-19/block-categories.ts'
import catalogue from '../../versions/2026-05-19/merchant-category-codes.json' with { type: 'json' }
import { loadFamily } from './family.ts'

const SEED = Number(process.env.PROOF_SEED ?? 20260519)
const { apis, changes } = await loadFamily()
const lenses = changes.flatMap((change) => change.lenses.map((lens) => ({ change, lens })))

function membersIn(version: string, component: string): string[] {
  const schema = apis.find((api) => api.version === version)!.schemas.get(component)
  return schema?.kind === 'enum' ? schema.values.map(String) : []
}

const before = (version: string) => apis[apis.findIndex((api) => api.version === version) - 1]!.version

describe('enumerations', () => {
  const enumerations = lenses.flatMap(({ change, lens }) =>
    lens.kind === 'values' && lens.property === undefined
      ? [{ change, lens, component: lens.schemas[0]! }]
      : [],
  )
  test.each(enumerations)(
    'values of an enumeration translate there and back: $change.id, $component',
    ({ change, lens, component }) => {
      const [up, down] = [namesTable(lens, 'up'), namesTable(lens, 'down')]
      const old = membersIn(before(change.version), component)
      const now = membersIn(change.version, component)
      const lost = new Set(Object.keys(lens.merge))
      for (const member of old) {
        const there = up.get(member) ?? member
        expect(now).toContain(there)
        expect(down.get(there) ?? there).toBe(member)
      }
      for (const member of now) {
        const there = down.get(member) ?? member
        expect(old).toContain(there)
        if (!lost.has(member)) expect(up.get(there) ?? there).toBe(member)
      }
      expect(lost.size > 0).toBe(lens.loss === 'merge')
    },
  )
})

describe('allowed ⇄ blocked', () => {
  const KNOWN = [...catalogue.map(({ code }) => code), '0000']
  const [lens] = blockCategories.lenses
  const up = (allowed: readonly string[] | null): string[] | null => lens.up!(allowed as string[] | null)
  const down = (blocked: readonly string[] | null): string[] | null => lens.down!(blocked as string[] | null)
  /** Nothing blocked, and nothing said, are no restriction. */
  const meaning = (blocked: readonly string[] | null) => [...(blocked ?? [])].sort()
  const lists = fc.oneof(
    fc.subarray(KNOWN),
    fc.subarray(KNOWN, { maxLength: 3 }),
    fc.subarray(KNOWN, { minLength: KNOWN.length - 3 }),
    fc.constant(null),
  )
  test('a blocked category stays blocked when read and written back', () => {
    fc.assert(
      fc.property(lists, (blocked) => {
        expect(meaning(up(down(blocked)))).toEqual(meaning(blocked))
      }),
      { seed: SEED, numRuns: 200 },
    )
  })
  test('an allowed category is read as it was written, in the order of the catalog', () => {
    fc.assert(
      fc.property(lists, (allowed) => {
        const all = allowed?.length === KNOWN.length
        expect(down(up(allowed))).toEqual(all ? null : allowed)
      }),
      { seed: SEED, numRuns: 200 },
    )
  })
  test('a category that is not allowed is blocked: a code is never both, never neither', () => {
    fc.assert(
      fc.property(fc.subarray(KNOWN), fc.constantFrom(...KNOWN), (allowed, code) => {
        expect(up(allowed)!.includes(code)).toBe(!allowed.includes(code))
      }),
      { seed: SEED, numRuns: 200 },
    )
  })
})
