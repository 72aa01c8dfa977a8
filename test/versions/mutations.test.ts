/** Lenses with a mistake in each: where every one of them is caught. */
import { describe, expect, test } from 'vitest'
import type { Lens } from '../../generators/change/change.ts'
import type { LoadedChange } from '../../generators/change/load-changes.ts'
import { checkSteps } from '../../generators/gate/gate.ts'
import { claimSteps } from '../../generators/gate/steps.ts'
import { proveSteps } from '../../generators/prove/family.ts'
import { refute } from '../../generators/prove/law.ts'
import { readPair } from '../toolkit/versions.ts'

interface Sides {
  readonly colour: string
  readonly thing: string
  readonly required: string
  readonly kind: string
  readonly grade: string
  readonly stale: string
  readonly key: boolean
  readonly sign: string
  /** The operation that finds a place: path, id, parameters and status. */
  readonly find: readonly [string, string, string, string]
  readonly place: string
}

const ref = (name: string): string => `{ $ref: "#/components/schemas/${name}" }`
const json = (name: string): string => `content: { application/json: { schema: ${ref(name)} } }`
const family = ({ colour, thing, required, kind, grade, stale, key, sign, find, place }: Sides): string => `
paths:
  /things:
    get:
      operationId: listThings
      parameters: [{ name: grade, in: query, schema: { type: string, enum: [${grade}] }, x-filter: equality }${stale}, { name: colour, in: query, schema: ${ref('Colour')} }]
      responses: { '200': { description: ok, ${json('List')} } }
    post:
      operationId: createThing
      parameters: [{ name: Key, in: header, required: ${key}, schema: { type: string } }]
      requestBody: { required: true, ${json('Thing')} }
      responses: { '200': { description: ok, ${json('Thing')} } }
  ${find[0]}:
    post:
      operationId: ${find[1]}
      parameters: [${find[2]}]
      requestBody: { required: true, ${json('Place')} }
      responses: { '${find[3]}': { description: ok, ${json('Place')} } }
webhooks:
  thing.made:
    post:
      parameters: [{ name: ${sign}, in: header, required: true, schema: { type: string } }]
      requestBody: { ${json('Thing')} }
      responses: { '200': { description: ok } }
components:
  schemas:
    Colour: { type: string, enum: [${colour}] }
    Kind: { type: string, enum: [${kind}], x-extensible: true }
    Place: ${place}
    List: { type: object, required: [data, kinds], properties: { data: { type: array, items: ${ref('Thing')} }, kinds: { type: array, items: ${ref('Kind')} } } }
    Thing: { type: object, required: [id, colour, ${required}], properties: { id: { type: string, minLength: 1, maxLength: 8 }, colour: ${ref('Colour')}, ${thing} } }
`

const WORD = '"^[a-z]{1,5}$"'
const OLD = family({
  colour: 'red, blue',
  thing: `size: { type: string, pattern: "^(0|[1-9][0-9]{0,2})$" }, line: { type: string }, weight: { type: integer, minimum: 0, maximum: 5000 }, name: { type: string, pattern: "^[a-z]{1,5} [a-z]{1,5}$" }, gone: { type: integer }, tone: { type: string, enum: [low, high] }`,
  required: 'size, line, weight, name, gone, tone',
  kind: 'a',
  grade: 'good, bad',
  stale: ', { name: stale, in: query, schema: { type: boolean } }',
  key: false,
  sign: 'X-Sign',
  find: [
    '/places/{id}',
    'findPlace',
    '{ name: id, in: path, required: true, schema: { type: integer, minimum: 0, maximum: 99 } }, { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 50, default: 20 } }, { name: X-Trace, in: header, schema: { type: string, maxLength: 9 } }',
    '201',
  ],
  place: `{ type: [object, "null"], required: [city, inner], properties: { city: { type: string, pattern: ${WORD} }, inner: { type: object, required: [floor], properties: { floor: { type: integer, minimum: 0, maximum: 9 } } }, note: { type: [string, "null"], maxLength: 5 } } }`,
})
const NEW = family({
  colour: 'crimson, blue, green',
  thing: `size: { type: integer, minimum: 0, maximum: 999 }, row: { type: string }, mass: { type: integer, minimum: 0, maximum: 5000000, multipleOf: 1000 }, first: { type: string, pattern: ${WORD} }, last: { type: string, pattern: ${WORD} }, fresh: { type: boolean }, tone: { type: string, enum: [quiet, high] }`,
  required: 'size, row, mass, first, last, fresh, tone',
  kind: 'a, b',
  grade: 'g1, g2, b1',
  stale: '',
  key: true,
  sign: 'Sign',
  find: [
    '/positions/{key}',
    'findPosition',
    '{ name: key, in: path, required: true, schema: { type: string, pattern: "^p[0-9]{1,2}$" } }, { name: page, in: query, schema: { type: integer, minimum: 1, maximum: 50, default: 10 } }, { name: Trace, in: header, schema: { type: string, maxLength: 9 } }, { name: mode, in: query, required: true, schema: { enum: [fast, slow] } }',
    '200',
  ],
  place: `{ type: object, required: [at, floor], properties: { at: { type: object, required: [city], properties: { city: { type: string, pattern: ${WORD} } } }, floor: { type: integer, minimum: 0, maximum: 9 }, note: { type: string, maxLength: 5 } } }`,
})

const schemas = ['Thing']
type Names = { readonly [name: string]: string }
const colour = (rename: Names, merge: Names, loss?: 'merge'): Lens => ({
  kind: 'values',
  schemas: ['Colour'],
  rename,
  merge,
  ...(loss && { loss }),
})
const tone = (rename: Names, property = 'tone'): Lens => ({
  kind: 'values',
  schemas,
  property,
  rename,
  merge: {},
})
const size = (up: (text: string) => unknown, down: (number: number) => unknown, property = 'size'): Lens => ({
  kind: 'convert',
  schemas,
  property,
  up,
  down,
})
const line = (from: string, to: string, on: readonly string[] = schemas): Lens => ({
  kind: 'rename',
  schemas: on,
  from,
  to,
})
const mass = (up: (grams: number) => unknown, down: (milligrams: number) => unknown): Lens => ({
  kind: 'rename',
  schemas,
  from: 'weight',
  to: 'mass',
  up,
  down,
})
interface Parts {
  readonly first: string
  readonly last: string
}
const name = (up: (old: { readonly name: string }) => unknown, down: (next: Parts) => unknown): Lens => ({
  kind: 'replace',
  schemas,
  old: ['name'],
  new: ['first', 'last'],
  up,
  down,
})
const split = ({ name: whole }: { readonly name: string }) => ({
  first: whole.split(' ')[0],
  last: whole.split(' ')[1],
})
const join = ({ first, last }: Parts) => ({ name: `${first} ${last}` })
const gone = (down: (thing: { readonly size: number }) => unknown): Lens => ({
  kind: 'drop',
  schemas,
  property: 'gone',
  loss: 'drop',
  down,
})
const fresh = (value: unknown): Lens => ({ kind: 'default', schemas, property: 'fresh', value })
const kinds = (property: string, unless: string): Lens => ({
  kind: 'leave-out',
  schemas: ['List'],
  property,
  unless,
  loss: 'drop',
})
const grade = (up: (old: string) => unknown, parameter = 'grade'): Lens => ({
  kind: 'filter',
  operation: 'listThings',
  parameter,
  up,
})
const named = (where: 'path' | 'query' | 'header', from: string, to: string): Lens => ({
  kind: 'renamed-parameter',
  operations: ['findPosition'],
  in: where,
  from,
  to,
})
const place = (up: (id: number) => unknown): Lens => ({
  kind: 'converted-parameter',
  operations: ['findPosition'],
  in: 'path',
  name: 'key',
  up,
})
const meant = (name: string, value: unknown): Lens => ({
  kind: 'default-parameter',
  operations: ['findPosition'],
  in: 'query',
  name,
  value,
})
const status = (from: string, to: string): Lens => ({
  kind: 'status',
  operations: ['findPosition'],
  from,
  to,
})
const moved = (from: string, to: string, turns = {}): Lens => ({
  kind: 'moved',
  schemas: ['Place'],
  from: from.split('.'),
  to: to.split('.'),
  ...turns,
})
const NOWHERE = { at: { city: 'none' }, floor: 0 }
const whole = (value: unknown): Lens => ({ kind: 'non-null', schemas: ['Place'], value })
const note = (value: unknown, property = 'note'): Lens => ({
  kind: 'non-null',
  schemas: ['Place'],
  property,
  value,
})
let count = 0

const RIGHT = {
  colour: colour({ red: 'crimson' }, { green: 'blue' }, 'merge'),
  tone: tone({ low: 'quiet' }),
  size: size(Number, String),
  line: line('line', 'row'),
  mass: mass(
    (grams) => grams * 1000,
    (milligrams) => milligrams / 1000,
  ),
  name: name(split, join),
  gone: gone((thing) => thing.size),
  fresh: fresh(true),
  kinds: kinds('kinds', 'Kind'),
  grade: grade((old) => (old === 'good' ? ['g1', 'g2'] : ['b1'])),
  stale: { kind: 'ignored-parameter', operations: ['listThings'], in: 'query', name: 'stale' },
  key: { kind: 'required-header', header: 'Key' },
  sign: { kind: 'renamed-header', from: 'X-Sign', to: 'Sign' },
  find: { kind: 'served', from: 'findPlace', by: 'findPosition' },
  id: named('path', 'id', 'key'),
  limit: named('query', 'limit', 'page'),
  trace: named('header', 'X-Trace', 'Trace'),
  place: place((id) => `p${id}`),
  pages: meant('page', 20),
  mode: meant('mode', 'slow'),
  status: status('201', '200'),
  city: moved('city', 'at.city'),
  floor: moved('inner.floor', 'floor'),
  whole: whole(NOWHERE),
  note: note('none'),
} as const satisfies Readonly<Record<string, Lens>>

type Key = keyof typeof RIGHT
/** [which lens, what is wrong with it, the lens as it is then; absent where it is forgotten, by whom it is caught] */
type Mutation = readonly [Key, string, Lens | undefined, string]

const MUTATIONS: readonly Mutation[] = [
  ...(Object.keys(RIGHT) as Key[])
    .filter((key) => key !== 'kinds')
    .map((key): Mutation => [key, 'forgotten', undefined, 'gate: break-unclaimed']),
  [
    'colour',
    'the wrong new member',
    colour({ red: 'green' }, { green: 'blue' }, 'merge'),
    'gate: break-unclaimed',
  ],
  ['colour', 'a merge without its loss', colour({ red: 'crimson' }, { green: 'blue' }), 'gate: change-lossy'],
  [
    'colour',
    'a merge into a member that is not there',
    colour({ red: 'crimson' }, { green: 'yellow' }, 'merge'),
    'proof-mismatch',
  ],
  [
    'colour',
    'a merge into the new name',
    colour({ red: 'crimson' }, { green: 'crimson' }, 'merge'),
    'proof-mismatch',
  ],
  ['colour', 'the wrong way round', colour({ crimson: 'red' }, { green: 'blue' }, 'merge'), 'proof-mismatch'],
  ['tone', 'the wrong way round', tone({ quiet: 'low' }), 'proof-mismatch'],
  ['tone', 'a member that is kept', tone({ low: 'quiet', high: 'quiet' }), 'gate: change-lossy'],
  ['tone', 'another property', tone({ low: 'quiet' }, 'size'), 'gate: break-unclaimed'],
  ['size', 'off by one, up', size((text) => Number(text) + 1, String), 'proof-round-trip'],
  ['size', 'off by one, down', size(Number, (number) => String(number + 1)), 'proof-round-trip'],
  ['size', 'a constant up', size(() => 7, String), 'proof-round-trip'],
  ['size', 'a constant down', size(Number, () => '7'), 'proof-round-trip'],
  ['size', 'nothing up', size((text) => text, String), 'proof-mismatch'],
  ['size', 'nothing down', size(Number, (number) => number), 'proof-mismatch'],
  ['size', 'NaN', size(() => Number.NaN, String), 'proof-mismatch'],
  [
    'size',
    'the clock, up',
    size(
      (text) =>
        (Date.now() % 2 === 0 ? Number(text) : Number(text)) +
        (new Date().getFullYear() > 0 ? Date.now() % 900 : 0),
      String,
    ),
    'proof',
  ],
  ['size', 'luck, down', size(Number, () => String(Math.floor(Math.random() * 999))), 'proof'],
  ['size', 'a state', size((text) => Number(text) + (count++ % 2), String), 'proof'],
  [
    'size',
    'throws on one value',
    size((text) => {
      if (text === '0') throw new Error('zero')
      return Number(text)
    }, String),
    'proof-throws',
  ],
  ['line', 'another new name', line('line', 'fresh'), 'gate: break-unclaimed'],
  ['line', 'the wrong way round', line('row', 'line'), 'gate: break-unclaimed'],
  ['line', 'another component', line('line', 'row', ['List']), 'gate: break-unclaimed'],
  [
    'mass',
    '× 10 down',
    mass(
      (grams) => grams * 1000,
      (milligrams) => milligrams / 100,
    ),
    'proof',
  ],
  [
    'mass',
    '× 10 up',
    mass(
      (grams) => grams * 10_000,
      (milligrams) => milligrams / 1000,
    ),
    'proof',
  ],
  ['mass', 'without its turns', { kind: 'rename', schemas, from: 'weight', to: 'mass' }, 'proof-mismatch'],
  [
    'mass',
    'rounded',
    mass(
      (grams) => Math.round(grams / 10) * 10_000,
      (milligrams) => milligrams / 1000,
    ),
    'proof-round-trip',
  ],
  [
    'name',
    'parts swapped up',
    name((old) => ({ first: split(old).last, last: split(old).first }), join),
    'proof-round-trip',
  ],
  [
    'name',
    'parts swapped down',
    name(split, ({ first, last }) => ({ name: `${last} ${first}` })),
    'proof-round-trip',
  ],
  ['name', 'one part lost', name((old) => ({ first: split(old).first }), join), 'proof-mismatch'],
  ['name', 'another separator', name(split, ({ first, last }) => ({ name: `${first}-${last}` })), 'proof'],
  ['name', 'a part too many', name((old) => ({ ...split(old), middle: '' }), join), 'proof-mismatch'],
  [
    'name',
    'changes what it is given',
    name((old) => {
      Object.assign(old, { name: '' })
      return split(old)
    }, join),
    'proof-throws',
  ],
  ['gone', 'of another type', gone((thing) => String(thing.size)), 'proof-mismatch'],
  ['gone', 'not made', { kind: 'drop', schemas, property: 'gone', loss: 'drop' }, 'translation-incomplete'],
  ['gone', 'by the clock', gone(() => Date.now()), 'proof-unsteady'],
  ['fresh', 'of another type', fresh('yes'), 'proof-mismatch'],
  [
    'fresh',
    'another property',
    { kind: 'default', schemas, property: 'row', value: '' },
    'gate: break-unclaimed',
  ],
  ['kinds', 'another property', kinds('data', 'Kind'), 'gate: change-claims-nothing'],
  ['grade', 'old values', grade((old) => [old]), 'proof-mismatch'],
  ['grade', 'no list', grade(() => 'g1'), 'proof-mismatch'],
  ['grade', 'nothing matches', grade(() => []), 'proof-mismatch'],
  ['grade', 'another parameter', grade((old) => [old], 'colour'), 'gate: break-unclaimed'],
  [
    'sign',
    'the wrong way round',
    { kind: 'renamed-header', from: 'Sign', to: 'X-Sign' },
    'gate: break-unclaimed',
  ],
  [
    'find',
    'another operation',
    { kind: 'served', from: 'findPlace', by: 'listThings' },
    'gate: break-unclaimed',
  ],
  ['id', 'another new name', named('path', 'id', 'place'), 'gate: break-unclaimed'],
  ['limit', 'the wrong way round', named('query', 'page', 'limit'), 'gate: break-unclaimed'],
  ['limit', 'of the headers', named('header', 'limit', 'page'), 'gate: break-unclaimed'],
  [
    'trace',
    'of another operation',
    { ...RIGHT.trace, operations: ['listThings'] } as Lens,
    'gate: break-unclaimed',
  ],
  ['place', 'nothing up', place((id) => id), 'proof-mismatch'],
  ['place', 'another form', place((id) => `p${id}00`), 'proof-mismatch'],
  ['place', 'the clock', place(() => `p${new Date().getDate()}`), 'proof-unsteady'],
  [
    'place',
    'throws on one value',
    place((id) => {
      if (id === 0) throw new Error('zero')
      return `p${id}`
    }),
    'proof-throws',
  ],
  ['pages', 'too large', meant('page', 51), 'proof-mismatch'],
  ['pages', 'another parameter', meant('limit', 20), 'gate: break-unclaimed'],
  ['mode', 'of another type', meant('mode', true), 'proof-mismatch'],
  ['status', 'the wrong way round', status('200', '201'), 'gate: break-unclaimed'],
  ['city', 'to another place', moved('city', 'at.town'), 'gate: change-claims-nothing'],
  ['city', 'the wrong way round', moved('at.city', 'city'), 'gate: change-claims-nothing'],
  [
    'city',
    'another one comes back',
    moved('city', 'at.city', { up: (city: string) => city, down: () => 'oslo' }),
    'proof-round-trip',
  ],
  [
    'city',
    'of another type up',
    moved('city', 'at.city', { up: (city: string) => city.length, down: String }),
    'proof-mismatch',
  ],
  ['floor', 'from another place', moved('inner.level', 'floor'), 'gate: change-claims-nothing'],
  ['whole', 'with a part missing', whole({ floor: 0 }), 'proof-mismatch'],
  ['whole', 'in the old form', whole({ city: 'none', inner: { floor: 0 } }), 'proof-mismatch'],
  ['note', 'null again', note(null), 'proof-mismatch'],
  ['note', 'another property', note('none', 'city'), 'gate: break-unclaimed'],
]

/** Every lens a change of its own, so that what claims nothing shows. */
function caughtBy(lenses: Readonly<Record<string, Lens | undefined>>): string[] {
  const [old, next] = readPair(OLD, NEW)
  const changes = Object.entries(lenses).flatMap(([id, lens]): LoadedChange[] =>
    lens
      ? [{ id, why: '', lenses: [lens], version: next.version, file: `versions/${next.version}/${id}.ts` }]
      : [],
  )
  const steps = claimSteps([old, next], changes)
  const gate = checkSteps(steps, { versions: 'versions', out: 'generated' })
  if (gate.length > 0) return [...new Set(gate.map(({ code }) => `gate: ${code}`))]
  const found = proveSteps(steps).flatMap((claim) => refute(claim, { runs: 200, seed: 1, limit: 5000 }) ?? [])
  return [...new Set(found.map(({ code }) => code))]
}

test('the lenses without a mistake pass the gate and the proof', () => {
  expect(caughtBy(RIGHT)).toEqual([])
})

describe('a lens with a mistake', () => {
  test.each(MUTATIONS)('a mistake in the lens %s is caught by %s', (key, _, lens, where) => {
    const caught = caughtBy({ ...RIGHT, [key]: lens })
    expect(caught.join(', ')).toContain(where)
  })
})

test('every mistake is caught, and where', () => {
  const rows = MUTATIONS.map(([key, what, , where]) => `${key}, ${what}: ${where}`)
  expect(rows.length).toBeGreaterThanOrEqual(40)
  process.stdout.write(`${rows.join('\n')}\n`)
})
