/** What the pages for contributors name is there: files, folders, scripts, and the numbers that they repeat. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../support/programs.ts'

const PAGES = ['docs/architecture.md', 'CONTRIBUTING.md', 'GLOSSARY.md', 'CHANGELOG.md']

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const pages = PAGES.filter((page) => existsSync(join(ROOT, page)))

/** Begins in a folder of the repository, or is a file at its top. */
const PATH =
  /(?<![\w./@-])(?:(?:openapi|versions|generators|generated|runtime|test|docs|\.ci)(?:\/[\w.-]+)+|[\w.-]+\.(?:md|json|yaml))/g

/** Paths in code spans and drawings; lists of what was (`before`) are left out, and so are patterns. */
function pathsIn(page: string): string[] {
  const code = [...read(page).matchAll(/^```(\w*)\n([\s\S]*?)^```$|`([^`\n]+)`/gm)]
    .filter(([, kind]) => kind !== 'before')
    .map(([, , block, span]) => block ?? span ?? '')
  const words = code.flatMap((text) => text.split(/\s+/)).filter((word) => !/[*<>{}…]/.test(word))
  return words.flatMap((word) => [...word.matchAll(PATH)].map(([path]) => path.replace(/\.$/, '')))
}

test.each(pages)('%s names files and folders that are there', (page) => {
  const paths = [...new Set(pathsIn(page))]
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('paths are found in sentences, tables and drawings', () => {
  expect(pathsIn('CONTRIBUTING.md')).toContain('test/database/migration-rules.test.ts')
  expect(pathsIn('docs/architecture.md')).toContain('runtime/events/outbound')
})

test('the tree of rooms lists every folder of the runtime, and no other', () => {
  const [, tree = ''] = /^runtime\/\n((?: {2}.*\n)+)/m.exec(read('docs/architecture.md')) ?? []
  const listed = [...tree.matchAll(/^ {2}(\w[\w-]*)\//gm)].map(([, name]) => name)
  const folders = readdirSync(join(ROOT, 'runtime'), { withFileTypes: true }).filter(
    (each) => each.isDirectory() && !each.name.startsWith('.'),
  )
  expect(listed.toSorted()).toEqual(folders.map(({ name }) => name).toSorted())
})

describe('settings that two files repeat', () => {
  test('biome.json and .editorconfig agree on the format', () => {
    const { formatter } = JSON.parse(read('biome.json')) as {
      formatter: { indentStyle: string; indentWidth: number; lineWidth: number }
    }
    const editor = read('.editorconfig')
    const settingOf = (name: string) => new RegExp(`^${name} = (.+)$`, 'm').exec(editor)?.[1]
    expect(['indent_style', 'indent_size', 'max_line_length'].map(settingOf)).toEqual([
      formatter.indentStyle,
      String(formatter.indentWidth),
      String(formatter.lineWidth),
    ])
  })

  test('the newest version in the changelog is that of the package', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string }
    expect(/^## (\d\S*)/m.exec(read('CHANGELOG.md'))?.[1]).toBe(version)
  })
})
