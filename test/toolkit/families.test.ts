/** Families that are not ours: whatever their documents are like, output stands alone, and what is left out is said. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { main } from '../../generators/cli.ts'
import { loadValidators, typeErrors } from './standing.ts'
import { makeDocument, versionName } from './synthetic.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join('test/toolkit', '.families-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

async function generate(config: Record<string, unknown>) {
  const lines: string[] = []
  const file = join(folder, 'dateline.config.json')
  writeFileSync(file, JSON.stringify({ out: './out', ...config }))
  const print = (line: string) => void lines.push(line)
  const code = await main(['--config', file, 'generate'], { out: print, error: print })
  return { code, said: lines.join('\n'), out: join(folder, 'out') }
}

const CLIENT = { package: { name: 'odd', version: '1.0.0' } }

test('numbered 3.0 documents in JSON', async () => {
  const documents = '../../golden/family-numbered/openapi'
  const { code, said, out } = await generate({ documents, client: CLIENT })
  expect(code, said).toBe(0)
  expect(typeErrors(out)).toEqual([])
  const checks = await loadValidators(out, 'v10')
  const berth = { id: 1, depth: 12.5 }
  expect(checks.Berth!(berth)).toBe(true)
  expect(checks.Berth!({ ...berth, depth: 0 })).toBe(false)
  expect(checks.Berth!({ ...berth, note: null, ship: null, neighbour: berth })).toBe(true)
  expect(checks.Berth!({ ...berth, neighbour: { ...berth, neighbour: 3 } })).toBe(false)
  expect(checks.AnyShip!({ kind: 'ferry', name: 'Ana', seats: 3 })).toBe(true)
  expect(checks.AnyShip!({ kind: 'tug', name: 'Rui' })).toBe(true)
  expect(checks.AnyShip!({ kind: 'ferry', name: 'Ana' })).toBe(false)
  expect(checks.AnyShip!({ kind: 'raft', name: 'Ana' })).toBe(false)
  for (const kept of ['callbacks-ignored', 'links-ignored']) expect(said).toContain(kept)
})

test('names that are no identifiers, or mean something else', async () => {
  const { code, said, out } = await generate({
    documents: ['../../golden/family-odd/openapi/odd.yaml'],
    client: CLIENT,
  })
  expect(code, said).toBe(0)
  expect(typeErrors(out)).toEqual([])
  const checks = await loadValidators(out, '2030-01-01')
  // Of every object, the compiler thinks.
  const thing = new Map(Object.entries(checks)).get('toString')!
  const account = { id: 'a', constructor: 'x' }
  expect(checks.account_id!(account)).toBe(true)
  expect(checks.account_id!({ id: 'a' })).toBe(false)
  expect(checks.account_id!(JSON.parse('{"id":"a","constructor":"x","__proto__":true}'))).toBe(true)
  expect(checks.account_id!(JSON.parse('{"id":"a","constructor":"x","__proto__":3}'))).toBe(false)
  expect(checks.account_id_2!('abc')).toBe(true)
  expect(thing({ narrowed: 'abcd' })).toBe(false)
  expect(thing({ narrowed: 'abc', own: { colour: 'red' }, tuple: ['a', 1] })).toBe(true)
  expect(thing({ tuple: ['a', 1, 2] })).toBe(false)
  expect(checks.constructor!({ any: 'never' })).toBe(true)
  expect(checks.Shape!({ kind: 'Square', side: 1 })).toBe(true)
  expect(checks.Shape!({ kind: 'Square', side: 'x' })).toBe(false)
})

test('a megabyte and more: hundreds of operations in three versions', async () => {
  const documents = [0, 1, 2].map((version) => {
    const file = `${versionName(version)}.json`
    writeFileSync(
      join(folder, file),
      JSON.stringify(makeDocument({ resources: 120, version, words: 9 }), null, 1),
    )
    return `./${file}`
  })
  expect(statSync(join(folder, '2020-01-01.json')).size).toBeGreaterThan(1_000_000)
  const { code, said, out } = await generate({ documents })
  expect(code, said.slice(0, 2000)).toBe(0)
  expect(typeErrors(out)).toEqual([])
  const checks = await loadValidators(out, '2020-01-03')
  const charge = { id: 'ch_1', object: 'charge', created: 1, details: { type: 'charge_card', last4: '4242' } }
  expect(checks.charge!(charge)).toBe(true)
  expect(checks.charge!({ ...charge, parent: { ...charge, object: 'plan' } })).toBe(false)
  expect(checks.charge!({ ...charge, details: { type: 'charge_card' } })).toBe(false)
  const sizes = ['2020-01-01', '2020-01-03'].map(
    (version) => statSync(join(out, version, 'validators.js')).size,
  )
  expect(sizes[0]).toBeLessThan(statSync(join(out, 'validators.js')).size)
}, 90_000)
