/** The TypeScript of migration guides, compiled against the client's types of the version before and of the one after. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guideOf, usesIn, VERSIONS } from './guides.ts'

const PACKAGE = 'generated/client'

const adjacent = VERSIONS.slice(1).map((to, index) => guideOf(VERSIONS[index]!, to))
const uses = adjacent.flatMap(usesIn).filter(({ typescript }) => typescript !== undefined)

/** What the compiler finds by itself; values of enumerations that may grow, and headers, are for a search. */
const SEEN = [
  '2026-05-19 Block categories: Create a program',
  '2026-05-19 Block categories: Retrieve a program',
]

let folder: string
let errors: Map<string, string[]>
beforeAll(() => {
  folder = mkdtempSync(join('test/docs', '.guides-'))
  const files = uses.flatMap(({ typescript, from, to }, index) => [
    [`before-${index}.ts`, typescript!.before],
    [`after-${index}.ts`, typescript!.after],
    // One import is all that is changed of it.
    [`moved-${index}.ts`, typescript!.before.replace(`/${from}'`, `/${to}'`)],
  ])
  errors = compile(files.map(([name = '', text = '']) => [name, `${text}\nexport {}\n`]))
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true }))

/** All in one program. @returns messages by file. */
function compile(files: readonly (readonly [string, string])[]): Map<string, string[]> {
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of files) writeFileSync(join(folder, name), text)
  const settings = ts.readConfigFile(`${PACKAGE}/tsconfig.json`, ts.sys.readFile).config
  const { options } = ts.convertCompilerOptionsFromJson(settings.compilerOptions, PACKAGE)
  const { rootDir: _, outDir: __, ...rest } = options
  const paths = { '@dateline/passes/*': [resolve(PACKAGE, 'src/*/index.ts')] }
  const program = ts.createProgram(
    files.map(([name]) => join(folder, name)),
    { ...rest, paths, types: ['node'], noEmit: true },
  )
  const found = new Map<string, string[]>()
  for (const { file, messageText } of ts.getPreEmitDiagnostics(program)) {
    const name = file ? relative(folder, file.fileName) : ''
    found.set(name, [...(found.get(name) ?? []), ts.flattenDiagnosticMessageText(messageText, ' ')])
  }
  return found
}

const errorsOf = (kind: string) =>
  uses.flatMap(({ name }, index) =>
    (errors.get(`${kind}-${index}.ts`) ?? []).map((error) => `${name}: ${error}`),
  )
test('compiles as it stands, on both sides', () => {
  expect(errorsOf('before')).toEqual([])
  expect(errorsOf('after')).toEqual([])
  expect([...errors.keys()].filter((name) => !/^moved-/.test(name))).toEqual([])
})

test('with the import of the next version alone, the compiler finds these', () => {
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
