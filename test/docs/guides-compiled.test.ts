/** The TypeScript of migration guides, compiled against the client's types of the version before and of the one after. */
import { beforeAll, expect, test } from 'vitest'
import { compile } from './compile.ts'
import { guideOf, usesIn, VERSIONS } from './guides.ts'

const adjacent = VERSIONS.slice(1).map((to, index) => guideOf(VERSIONS[index]!, to))
const uses = adjacent.flatMap(usesIn).filter(({ typescript }) => typescript !== undefined)

/** What the compiler finds by itself; values of enumerations that may grow, and headers, are for a search. */
const SEEN = [
  '2026-05-19 Block categories: Create a card program',
  '2026-05-19 Block categories: Retrieve a card program',
]

let errors: Map<string, string[]>
beforeAll(() => {
  const files = uses.flatMap(({ typescript, from, to }, index) => [
    [`before-${index}.ts`, typescript!.before],
    [`after-${index}.ts`, typescript!.after],
    // One import is all that is changed of it.
    [`moved-${index}.ts`, typescript!.before.replace(`/${from}'`, `/${to}'`)],
  ])
  errors = compile(files.map(([name = '', text = '']) => [name, `${text}\nexport {}\n`]))
}, 120_000)

const errorsOf = (kind: string) =>
  uses.flatMap(({ name }, index) =>
    (errors.get(`${kind}-${index}.ts`) ?? []).map((error) => `${name}: ${error}`),
  )
test('the code of a guide compiles as it is, on both sides', () => {
  expect(errorsOf('before')).toEqual([])
  expect(errorsOf('after')).toEqual([])
  expect([...errors.keys()].filter((name) => !/^moved-/.test(name))).toEqual([])
})

test('the code before with the import of the next version gives exactly these errors', () => {
  const found = uses.filter((_, index) => errors.has(`moved-${index}.ts`)).map(({ name }) => name)
  expect(found).toEqual(SEEN)
})

test('a longer way shows the code of its parts, and no other', () => {
  const known = new Set(adjacent.flatMap(usesIn).map((use) => JSON.stringify(use)))
  for (const [start, from] of VERSIONS.entries())
    for (const to of VERSIONS.slice(start + 2)) {
      const shown = usesIn(guideOf(from, to))
      expect(shown.length).toBeGreaterThan(3)
      expect(shown.filter((use) => !known.has(JSON.stringify(use)))).toEqual([])
    }
})
