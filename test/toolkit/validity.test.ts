/** The gate lets no translation pass whose result is not valid in its version. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Lens } from '../../generators/change/change.ts'
import type { LoadedChange } from '../../generators/change/load-changes.ts'
import { main } from '../../generators/cli.ts'
import { checkSteps } from '../../generators/gate/gate.ts'
import { claimSteps } from '../../generators/gate/steps.ts'
import { proveValidity } from '../../generators/prove/bounded.ts'
import { mismatch } from '../../generators/values/closed-reading.ts'
import { readPair, type Use, using } from './versions.ts'

const schemas = ['X']
const object = (properties: string, ...required: readonly string[]): string =>
  `X: { type: object, required: [${required}], properties: { ${properties} } }`

/** What the gate says of one change between two documents: of lenses and differences first, then of values. */
function found(use: Use, old: string, next: string, ...lenses: readonly Lens[]) {
  const apis = readPair(using(use, old), using(use, next))
  const change: LoadedChange = {
    id: 'edit',
    why: '',
    lenses,
    version: apis[1].version,
    file: 'versions/2030-06-01/edit.ts',
  }
  const steps = claimSteps(apis, [change])
  const gate = checkSteps(steps, { versions: 'versions', out: 'generated' })
  return gate.length > 0 ? gate : steps.flatMap((step) => proveValidity(step, {}))
}

const rename: Lens = { kind: 'rename', schemas, from: 'a', to: 'b' }
const text = (name: string) => `${name}: { type: string }`

describe('refused', () => {
  test.each<readonly [string, Use, string, string, Lens, RegExp]>([
    [
      'another name that may be absent, in answers',
      'response',
      object(text('a'), 'a'),
      object(text('b')),
      rename,
      /^2030-06-01 useX answer down, translated by edit: a is required; example: \{\}$/,
    ],
    [
      'in errors',
      'error',
      object(text('a'), 'a'),
      object(text('b')),
      rename,
      /useX 400 down.* a is required/,
    ],
    ['in events', 'event', object(text('a'), 'a'), object(text('b')), rename, /x\.used down.* a is required/],
    [
      'another name that must be there, in requests',
      'request',
      object(text('a')),
      object(text('b'), 'b'),
      rename,
      /useX body up.* b is required/,
    ],
    [
      'what stands elsewhere and may be absent',
      'response',
      object(text('a'), 'a'),
      object(`o: { type: object, properties: { ${text('a')} } }`),
      { kind: 'moved', schemas, from: ['a'], to: ['o', 'a'] },
      /a is required/,
    ],
    [
      'properties that are made of too few',
      'response',
      object(`${text('a')}, ${text('c')}`, 'a', 'c'),
      object(text('b'), 'b'),
      { kind: 'replace', schemas, old: ['a', 'c'], new: ['b'], up: () => ({}), down: ({ b }) => ({ a: b }) },
      /c is required/,
    ],
    [
      'a value of another type',
      'response',
      object(text('a')),
      object('a: { type: integer }'),
      { kind: 'convert', schemas, property: 'a', up: Number, down: (value) => value },
      /a must be a string/,
    ],
    [
      'a value that is out of bounds',
      'request',
      object('a: { type: integer }'),
      object('a: { type: integer, maximum: 5 }'),
      { kind: 'convert', schemas, property: 'a', up: (value) => value, down: (value) => value },
      /a must be at most 5/,
    ],
    [
      'a function that throws',
      'response',
      object(text('a')),
      object('a: { type: integer }'),
      {
        kind: 'convert',
        schemas,
        property: 'a',
        up: Number,
        down: () => {
          throw new Error('never')
        },
      },
      /throws Error: never/,
    ],
    [
      'a value for what an old request cannot say',
      'request',
      object(''),
      object('a: { type: integer }', 'a'),
      { kind: 'default', schemas, property: 'a', value: 'one' },
      /a must be an integer/,
    ],
    [
      'a value for what may be absent now',
      'response',
      object('a: { type: integer }', 'a'),
      object('a: { type: integer }'),
      { kind: 'optional', schemas, property: 'a', value: 'none' },
      /a must be an integer/,
    ],
  ])('the gate refuses a translation whose result is invalid: %s', (_, use, old, next, lens, wanted) => {
    const all = found(use, old, next, lens)
    expect(all.map(({ message }) => message)).toEqual([expect.stringMatching(wanted)])
    expect(all[0]).toMatchObject({
      severity: 'error',
      place: { file: 'versions/2030-06-01/edit.ts', line: 1 },
      ...(/throws/.test(wanted.source) ? {} : { other: { file: 'test.yaml' } }),
    })
    // Always the same values.
    expect(found(use, old, next, lens)).toEqual(all)
  })
})

describe('let through', () => {
  const drop: Lens = { kind: 'drop', schemas, property: 'a', loss: 'drop' }
  test.each<readonly [string, Use, string, string, Lens]>([
    ['another name', 'response', object(text('a'), 'a'), object(text('b'), 'b'), rename],
    [
      'another name that may be absent on both sides',
      'response',
      object(text('a')),
      object(text('b')),
      rename,
    ],
    [
      'what is made of the new object',
      'response',
      object(text('a'), 'a'),
      object('b: { type: integer }', 'b'),
      { ...drop, down: ({ b }: { b: number }) => String(b) } as Lens,
    ],
    ['what only requests have', 'request', object(text('a'), 'a'), object(''), drop],
    [
      'what answers never have, since it is write-only',
      'response',
      object(`a: { type: string, writeOnly: true }, ${text('c')}`, 'a'),
      object(text('d')),
      { kind: 'rename', schemas, from: 'c', to: 'd' },
    ],
    [
      'what is accepted as it is',
      'response',
      object(text('a'), 'a'),
      object(''),
      { kind: 'accept', code: 'property-removed', at: ['X.a'] },
    ],
    [
      'more than an open object declares, where no translation gets to',
      'response',
      object(`${text('a')}, p: { type: array, prefixItems: [{ type: object, properties: {} }] }`),
      object(`${text('b')}, p: { type: array, prefixItems: [{ type: object, properties: { c: {} } }] }`),
      rename,
    ],
    [
      'rules that no value fits',
      'response',
      object('a: { enum: [] }, c: { type: string, pattern: "^(?=x)y", minLength: 900000000 }', 'a', 'c'),
      object('b: { enum: [] }, c: { type: string, pattern: "^(?=x)y", minLength: 900000000 }', 'b', 'c'),
      rename,
    ],
    [
      'a component that requires itself',
      'response',
      `${object("a: { $ref: '#/components/schemas/X' }", 'a')}`,
      `${object("b: { $ref: '#/components/schemas/X' }", 'b')}`,
      rename,
    ],
    [
      'a union that leads back to itself',
      'response',
      `X: { type: object, properties: { a: { oneOf: [{ type: string }, { type: array, minItems: 2, items: { $ref: '#/components/schemas/X' } }] } } }`,
      `X: { type: object, properties: { b: { oneOf: [{ type: string }, { type: array, minItems: 2, items: { $ref: '#/components/schemas/X' } }] } } }`,
      rename,
    ],
  ])('the gate accepts a translation whose result is valid: %s', (_, use, old, next, lens) => {
    expect(found(use, old, next, lens).map(({ message }) => message)).toEqual([])
  })
})

describe('generate and check', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join('test/toolkit', '.validity-'))
    cpSync('test/golden/gate-unclaimed/openapi', join(folder, 'openapi'), { recursive: true })
    const config = {
      documents: './openapi',
      versions: './versions',
      out: './out',
      emit: ['types', 'documents'],
    }
    writeFileSync(join(folder, 'dateline.config.json'), JSON.stringify(config))
    mkdirSync(join(folder, 'versions/2030-06-01'), { recursive: true })
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const write = (down: string) => {
    const lenses = [
      `{ kind: 'rename', schemas: ['Parcel'], from: 'weight', to: 'weight_grams', up: (value) => value, down: ${down} }`,
      `{ kind: 'values', schemas: ['Parcel'], property: 'state', rename: { lost: 'missing' }, merge: {} }`,
    ]
    const change = `export default { id: 'name-grams', why: 'A test.', lenses: [${lenses}] }\n`
    writeFileSync(join(folder, 'versions/2030-06-01/name-grams.ts'), change)
  }
  const run = async (command: string) => {
    const errors: string[] = []
    const argv = ['--config', join(folder, 'dateline.config.json'), command]
    const code = await main(argv, { out: () => undefined, error: (line) => void errors.push(line) })
    return { code, error: errors.join('\n') }
  }

  test.each(['check', 'generate'])(
    '%s refuses what is not valid, with a value that shows it',
    async (command) => {
      write('(value) => String(value)')
      const { code, error } = await run(command)
      expect(code).toBe(1)
      expect(error).toMatch(
        /name-grams\.ts:1:1 error proof-mismatch: 2030-06-01 \w+ answer down, translated by name-grams: .*weight must be an integer; example:/,
      )
      expect(error).toMatch(/see .*2030-01-01\.yaml:28:9/)
    },
  )

  test('a valid translation is generated, and found again without another look', async () => {
    write('(value) => value')
    expect(await run('generate')).toEqual({ code: 0, error: '' })
    expect(await run('check')).toEqual({ code: 0, error: '' })
  })
})

test('a map that is referred to in a member of allOf declares its members', () => {
  const map = 'M: { type: object, additionalProperties: { type: string } }'
  const [api] = readPair(
    using('request', `X: { allOf: [{ $ref: '#/components/schemas/M' }] }, ${map}`),
    using('request', `X: { allOf: [{ $ref: '#/components/schemas/M' }] }, ${map}`),
  )
  const misfit = (value: unknown) => mismatch(api, api.schemas.get('X')!, value)
  expect(misfit({ a: 'x' })).toBeUndefined()
  expect(misfit({ a: 1 })).toMatchObject({ field: 'a', issue: 'is not a valid string: 1' })
})
