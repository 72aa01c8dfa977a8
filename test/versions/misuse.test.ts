/** What must not compile in a change: each line of misuse gives the compiler something to say, and right use nothing. */
import { expect, test } from 'vitest'
import { programOf } from './compile.ts'

const PREAMBLE = `
import { between } from 'dateline/change'
interface Old {
  schemas: {
    Colour: 'red' | 'blue'
    Thing: { name: string; size: string; colour: 'red' | 'blue'; first: string; gone: number; at?: { in: { city: string } }; marks?: string[]; mood?: 'calm' | 'wild' }
    ThingCreate: { name: string; size?: string; first?: string }
    List: { data: Thing[]; kinds: string[] }
  }
  operations: { listThings: { parameters: { query?: { colour?: 'red' | 'blue'; old?: boolean; limit?: number }; header?: { 'X-Old': string; Key?: string }; path: { id: number } }; responses: { 201: object; 404: object } }; oldOnly: { parameters: { query?: { text?: string } } } }
}
type Thing = Old['schemas']['Thing']
interface New {
  schemas: {
    Colour: 'crimson' | 'blue' | 'green'
    Thing: { name: string; size: number; colour: 'crimson' | 'blue'; last: string; fresh: boolean; city?: string; town?: number; tags?: string[]; temper?: 'mild' | 'hot' }
    ThingCreate: { name: string; size?: number; last?: string }
    List: { data: { kind: 'a' | 'b' }[]; kinds: string[] }
    Kind: 'a' | 'b'
  }
  operations: { listThings: { parameters: { query?: { colour?: 'crimson' | 'blue'; page?: number }; header?: { New: string; Key: string }; path: { id: string } }; responses: { 200: object; 404: object } }; newOnly: { parameters: { query?: { page?: number } }; requestBody: { content: { 'application/json': { text?: string } } } } }
}
const v = between<Old, New>()
`

/** One program of all snippets: checking them one by one would start the compiler as often. */
function errorsOf(snippets: readonly string[]): number[][] {
  const files = new Map(
    snippets.map((snippet, index) => [`${process.cwd()}/versions/misuse-${index}.ts`, PREAMBLE + snippet]),
  )
  const program = programOf(files)
  return [...files.keys()].map((file) =>
    program.getSemanticDiagnostics(program.getSourceFile(file)).map((each) => each.code),
  )
}

const RIGHT = [
  "v.values('Colour', { rename: { red: 'crimson' } })",
  "v.values('Colour', { rename: { red: 'crimson' }, merge: { green: 'blue' }, loss: 'merge' })",
  "v.valuesOf(['Thing'], 'colour', { rename: { red: 'crimson' } })",
  "v.convert(['Thing', 'ThingCreate'], 'size', { up: (size) => Number(size), down: (size) => String(size) })",
  "v.convert(['Thing'], 'colour', { up: () => 'crimson', down: () => 'red' })",
  "v.rename(['Thing', 'ThingCreate'], 'first', 'last')",
  "v.rename(['Thing'], 'mood', 'temper', { up: () => 'mild', down: () => 'calm' })",
  "v.replace(['Thing', 'ThingCreate'], { old: ['first'], new: ['last'], up: ({ first }) => ({ last: first ?? '' }), down: ({ last }) => ({ first: last ?? '' }) })",
  "v.drop(['Thing'], 'gone', { loss: 'drop', down: (thing) => thing.size })",
  "v.drop(['Thing'], 'mood', { loss: 'drop', down: () => 'calm' })",
  "v.default(['Thing'], 'fresh', true)",
  "v.leaveOut(['List'], 'data', { unless: 'Colour', by: 'kind', loss: 'drop' })",
  "v.filter('listThings', 'colour', (colour) => [colour === 'red' ? 'crimson' : colour])",
  "v.ignoredParameter('query', 'old', 'listThings')",
  "v.requiredHeader('Key')",
  "v.behaviour('archived-in-lists', 'listThings', 'event thing.made')",
  "v.renamedParameter('query', 'limit', 'page')",
  "v.renamedParameter('header', 'X-Old', 'New', 'listThings')",
  "v.defaultParameter('query', 'page', 20)",
  "v.convertedParameter('path', 'id', (id) => String(id * 2), 'listThings')",
  "v.served('oldOnly', 'newOnly')",
  "v.served('oldOnly', 'newOnly', { query: { page: 1 }, body: { text: '' } })",
  "v.movedParameter(['query', 'text'], ['body', 'text'], 'newOnly')",
  "v.movedParameter(['query', 'text'], ['query', 'page'], 'newOnly', (text) => text.length)",
  "v.convertWhole('Thing', { up: ({ name }) => ({ name, size: 1, colour: 'blue', last: '', fresh: true }), down: ({ name }) => ({ name, size: '', colour: 'blue', first: '', gone: 1 }) })",
  "v.wrapped(['Thing'], 'first', 'tags', { loss: 'drop', empty: '' })",
  "v.unwrapped(['Thing'], 'marks', 'last', { loss: 'drop', empty: '' })",
  "v.renamedEvent('thing.made', 'thing.created')",
  "v.status(201, 200, 'listThings')",
  "v.moved(['Thing'], ['at', 'in', 'city'], ['city'])",
  "v.moved(['Thing'], ['at', 'in', 'city'], ['town'], { up: (city) => city.length, down: (town) => 'x'.repeat(town) })",
  "v.nullableWhole('Colour', 'red')",
  "v.nonNullWhole('Thing', { name: '', size: 1, colour: 'blue', last: '', fresh: true })",
  "v.nonNull(['Thing'], 'size', 1)",
  "v.renamedHeader('X-Old', 'New')",
  "v.change({ id: 'a', why: 'b', lenses: [], examples: [{ schema: 'Colour', old: 'red', new: 'crimson' }] })",
]

const WRONG: readonly (readonly [string, string])[] = [
  ['a schema that is not there', "v.values('Color', { rename: { red: 'crimson' } })"],
  ['a schema of one version only', "v.values('Kind', { rename: {} })"],
  ['an old member that is not there', "v.values('Colour', { rename: { reed: 'crimson' } })"],
  ['a new member that is not there', "v.values('Colour', { rename: { red: 'crimsn' } })"],
  ['a member that is in both', "v.values('Colour', { rename: { red: 'blue' } })"],
  ['a member that is left out', "v.values('Colour', { rename: {} })"],
  ['a merge without a loss', "v.values('Colour', { rename: { red: 'crimson' }, merge: { green: 'blue' } })"],
  ['a loss without a merge', "v.values('Colour', { rename: { red: 'crimson' }, loss: 'merge' })"],
  ['a property that is not there', "v.convert(['Thing'], 'sise', { up: Number, down: String })"],
  ['a direction that is missing', "v.convert(['Thing'], 'size', { up: (size) => Number(size) })"],
  ['the other direction missing', "v.convert(['Thing'], 'size', { down: (size) => String(size) })"],
  [
    'a direction of the wrong type',
    "v.convert(['Thing'], 'size', { up: (size) => size, down: (size) => String(size) })",
  ],
  ['a loss that there is not', "v.convert(['Thing'], 'size', { up: Number, down: String, loss: 'maybe' })"],
  ['a renamed property that is still there', "v.rename(['Thing'], 'name', 'last')"],
  ['a new name that is not new', "v.rename(['Thing'], 'first', 'name')"],
  ['a renamed property of another type, unconverted', "v.rename(['Thing'], 'gone', 'last')"],
  [
    'a group whose way up gives too little',
    "v.replace(['Thing'], { old: ['first'], new: ['last'], up: () => ({ lst: '' }), down: () => ({ first: '' }) })",
  ],
  [
    'a group without a way down',
    "v.replace(['Thing'], { old: ['first'], new: ['last'], up: () => ({ last: '' }) })",
  ],
  ['a drop without a loss', "v.drop(['Thing'], 'gone', {})"],
  ['a drop of what is still there', "v.drop(['Thing'], 'name', { loss: 'drop' })"],
  ['a default of the wrong type', "v.default(['Thing'], 'fresh', 'yes')"],
  [
    'a kind that members do not have',
    "v.leaveOut(['List'], 'data', { unless: 'Colour', by: 'sort', loss: 'drop' })",
  ],
  ['an operation that is not there', "v.ignoredParameter('query', 'old', 'listThing')"],
  ['behavior of an operation that is not there', "v.behaviour('archived-in-lists', 'listThing')"],
  ['an operation of one version only', "v.filter('newOnly', 'colour', () => [])"],
  ['a parameter that is not there', "v.ignoredParameter('query', 'older', 'listThings')"],
  ['a filter that gives no list', "v.filter('listThings', 'colour', (colour) => 'blue')"],
  ['a filter that gives old values', "v.filter('listThings', 'colour', (colour) => [colour])"],
  ['a renamed parameter that is not there', "v.renamedParameter('query', 'limt', 'page')"],
  ['a parameter of another part', "v.renamedParameter('header', 'limit', 'page')"],
  ['a new name that is not there', "v.renamedParameter('query', 'limit', 'pages')"],
  ['an operation that has no such parameter', "v.renamedParameter('query', 'limit', 'page', 'oldOnly')"],
  ['a default of another type', "v.defaultParameter('query', 'page', '20')"],
  ['a converted parameter that gives the old type', "v.convertedParameter('path', 'id', (id) => id)"],
  ['a converted header', "v.convertedParameter('header', 'Key', (key) => key)"],
  ['an operation that both have, served', "v.served('listThings', 'newOnly')"],
  ['an operation that serves itself', "v.served('oldOnly', 'oldOnly')"],
  ['a fixed parameter that is not there', "v.served('oldOnly', 'newOnly', { query: { pages: 1 } })"],
  ['a fixed parameter of another type', "v.served('oldOnly', 'newOnly', { query: { page: '1' } })"],
  [
    'a moved parameter that is not there',
    "v.movedParameter(['query', 'texts'], ['body', 'text'], 'newOnly')",
  ],
  ['a move to a part without it', "v.movedParameter(['query', 'text'], ['header', 'text'], 'newOnly')"],
  ['a moved parameter of another type', "v.movedParameter(['query', 'text'], ['query', 'page'], 'newOnly')"],
  [
    'a whole value of the old type',
    "v.convertWhole('Colour', { up: (colour) => colour, down: () => 'red' })",
  ],
  ['a wrapped property that is no list', "v.wrapped(['Thing'], 'first', 'last', { loss: 'drop' })"],
  ['a wrapped property without a loss', "v.wrapped(['Thing'], 'first', 'tags', {})"],
  ['an unwrapped property that is no list', "v.unwrapped(['Thing'], 'first', 'last', { loss: 'drop' })"],
  ['an unwrapped property without a loss', "v.unwrapped(['Thing'], 'marks', 'last', {})"],
  [
    'an unwrapped list for which something else stands',
    "v.unwrapped(['Thing'], 'marks', 'last', { loss: 'drop', empty: 1 })",
  ],
  ['a renamed event without a new name', "v.renamedEvent('thing.made')"],
  ['a status that is never answered', 'v.status(202, 200)'],
  ['a new status that is never answered', 'v.status(201, 204)'],
  ['a path that leads nowhere', "v.moved(['Thing'], ['at', 'city'], ['city'])"],
  ['a new path that leads nowhere', "v.moved(['Thing'], ['at', 'in', 'city'], ['at', 'city'])"],
  ['a move to another type, unconverted', "v.moved(['Thing'], ['at', 'in', 'city'], ['town'])"],
  ['something for null that is none of it', "v.nullableWhole('Colour', 'crimson')"],
  ['something for null of the old type', "v.nonNull(['Thing'], 'size', '1')"],
  ['a header that is not there', "v.renamedHeader('X-Older', 'New')"],
  ['a required header that is not there', "v.requiredHeader('Kee')"],
  [
    'an example of the wrong side',
    "v.change({ id: 'a', why: 'b', lenses: [], examples: [{ schema: 'Colour', old: 'crimson', new: 'red' }] })",
  ],
  [
    'an example without its other side',
    "v.change({ id: 'a', why: 'b', lenses: [], examples: [{ schema: 'Colour', old: 'red' }] })",
  ],
  ['a change without its words', "v.change({ id: 'a', lenses: [] })"],
]

const found = errorsOf([...RIGHT, ...WRONG.map(([, snippet]) => snippet)])

test.each(RIGHT.map((snippet, index) => [snippet, index] as const))(
  'a change that is right compiles: %s',
  (_, index) => {
    expect(found[index]).toEqual([])
  },
)

test.each(WRONG.map(([name], index) => [name, RIGHT.length + index] as const))(
  'a change that is wrong does not compile: %s',
  (_, index) => {
    expect(found[index]!.length).toBeGreaterThan(0)
    // Not for a slip of the fixture itself: a name that cannot be found, a module, a comma.
    expect(found[index]!.filter((code) => code < 2000 || code === 2304 || code === 2307)).toEqual([])
  },
)
