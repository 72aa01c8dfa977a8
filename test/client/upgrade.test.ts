/** The upgrade command of client packages: programs before and after, and what is reported of them. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { Project, ts } from 'ts-morph'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { run } from '../../generators/client-upgrade/command.ts'
import { printReport } from '../../generators/client-upgrade/report.ts'
import { emptyStep, useResources } from '../../generators/client-upgrade/resource-calls.ts'
import type { UpgradeManifest } from '../../generators/client-upgrade/rules.ts'
import { stepsBetween, type UpgradeResult, upgradeProject } from '../../generators/client-upgrade/upgrade.ts'

const FOLDER = resolve('test/golden/upgrade')
const PROGRAMS = ['constants', 'events', 'marks', 'moves', 'renames', 'versions']
const manifest: UpgradeManifest = JSON.parse(readFileSync(`${FOLDER}/want/client/upgrade.json`, 'utf8'))
const steps = stepsBetween(manifest, '2030-01-01', '2030-12-01')!
const updating = process.env.UPDATE_GOLDEN === '1'

const CLIENT = `${FOLDER}/want/client/src`
const PATHS = {
  '@acme/books': [`${CLIENT}/index.ts`],
  '@acme/books/*/functions': [`${CLIENT}/*/functions.ts`],
  '@acme/books/*': [`${CLIENT}/*/index.ts`],
}

/** A project that finds the package where the golden case generates it. */
function openProject(texts: Readonly<Record<string, string>>): Project {
  const project = new Project({
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      types: [],
      paths: PATHS,
    },
  })
  for (const [name, text] of Object.entries(texts))
    project.createSourceFile(`${FOLDER}/programs/${name}`, text)
  return project
}

const read = (name: string) => readFileSync(`${FOLDER}/programs/${name}`, 'utf8')

/** Compares with a file, or writes it. */
function expectFile(name: string, text: string): void {
  const path = `${FOLDER}/programs/${name}`
  if (updating) writeFileSync(path, text)
  expect(text).toBe(existsSync(path) ? readFileSync(path, 'utf8') : '')
}

let project: Project
let result: UpgradeResult

beforeAll(() => {
  project = openProject(Object.fromEntries(PROGRAMS.map((name) => [`${name}.ts`, read(`${name}.before.ts`)])))
  result = upgradeProject(project, ts, manifest, steps)
})

test.each(PROGRAMS)('%s', (name) => {
  const file = result.files.find(({ path }) => basename(path) === `${name}.ts`)
  expectFile(`${name}.after.ts`, file?.after ?? '')
})

test('the report begins with what the compiler does not see', () => {
  const options = { package: manifest.package, written: true, shown: (path: string) => basename(path) }
  expectFile('report.txt', `${printReport(result, steps, options)}\n`)
})

test('calls that take one object become calls of methods of resources, and other uses of them are marked', async () => {
  const own = openProject({ 'resources.ts': read('resources.before.ts') })
  const step = [emptyStep('2030-01-01')]
  const changed = upgradeProject(own, ts, manifest, step, useResources)
  expectFile('resources.after.ts', changed.files[0]?.after ?? '')
  const options = { package: manifest.package, written: true, shown: (path: string) => basename(path) }
  expect(printReport(changed, step, options)).toContain('1 file changed; 3 marked, 0 that the compiler')
  expect(upgradeProject(own, ts, manifest, step, useResources).files).toEqual([])
  const left = own.getPreEmitDiagnostics().map((each) => each.getMessageText())
  expect(left).toEqual([])
})

test('a second upgrade changes nothing', () => {
  expect(upgradeProject(project, ts, manifest, steps).files).toEqual([])
})

describe('the command', () => {
  const BEFORE =
    "import type { Book } from '@acme/books/2030-06-01'\nexport const nameOf = ({ title }: Book) => title\n"
  const AFTER =
    "import type { Book } from '@acme/books/2030-12-01'\nexport const nameOf = ({ name: title }: Book) => title\n"

  /** A program of one file. */
  function install() {
    const folder = mkdtempSync(join(tmpdir(), 'dateline-upgrade-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'names.ts')
    writeFileSync(file, BEFORE)
    const compilerOptions = {
      module: 'NodeNext',
      noLib: true,
      types: [],
      allowImportingTsExtensions: true,
      noEmit: true,
    }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...compilerOptions, paths: PATHS } }),
    )
    const git = (...words: readonly string[]) => execFileSync('git', words, { cwd: folder, stdio: 'pipe' })
    return {
      read: () => readFileSync(file, 'utf8'),
      commit() {
        symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
        writeFileSync(join(folder, '.gitignore'), 'node_modules')
        git('init', '-q')
        git('add', '.')
        git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'Start')
      },
      edit: (text: string) => writeFileSync(file, text),
      async upgrade(...words: readonly string[]) {
        const printed: string[] = []
        const print = (text: string) => void printed.push(text)
        const exit = await run(['upgrade', ...words], manifest, folder, { out: print, error: print })
        return { exit, printed: printed.join('\n') }
      },
    }
  }

  test('writes files that Git has, and prints the difference of a dry run', async () => {
    const program = install()
    program.commit()
    const dry = await program.upgrade('2030-06-01', '2030-12-01', '--dry-run')
    expect([dry.exit, program.read()]).toEqual([0, BEFORE])
    expect(dry.printed).toContain(`--- a/names.ts
+++ b/names.ts
@@ -1,2 +1,2 @@
-import type { Book } from '@acme/books/2030-06-01'
-export const nameOf = ({ title }: Book) => title
+import type { Book } from '@acme/books/2030-12-01'
+export const nameOf = ({ name: title }: Book) => title
`)
    const { exit, printed } = await program.upgrade('2030-06-01', '2030-12-01')
    expect([exit, program.read()]).toEqual([0, AFTER])
    expect(printed).toContain('1 file upgraded from 2030-06-01 to 2030-12-01')
    const again = await program.upgrade('2030-06-01', '2030-12-01')
    expect(again).toEqual({ exit: 0, printed: 'No file uses @acme/books/2030-06-01.' })
  })

  test('refuses to write what Git does not have, unless it is forced', async () => {
    const program = install()
    const outside = await program.upgrade('2030-06-01', '2030-12-01')
    expect(outside).toMatchObject({ exit: 2, printed: expect.stringContaining('not in a Git repository') })
    program.commit()
    program.edit(`${BEFORE}// more\n`)
    const unsaved = await program.upgrade('2030-06-01', '2030-12-01')
    expect(unsaved).toMatchObject({ exit: 2, printed: expect.stringContaining('names.ts') })
    expect(program.read()).toBe(`${BEFORE}// more\n`)
    expect(await program.upgrade('2030-06-01', '2030-12-01', '--force')).toMatchObject({ exit: 0 })
    expect(program.read()).toBe(`${AFTER}// more\n`)
  })

  test.each([
    [['2030-06-01'], 2, 'usage: npx @acme/books upgrade FROM TO'],
    [['2030-06-01', '2031-01-01'], 2, 'no version 2031-01-01: it has 2030-01-01, 2030-06-01, 2030-12-01'],
    [['2030-12-01', '2030-06-01'], 2, '2030-06-01 is not newer than 2030-12-01'],
    [['2030-06-01', '2030-12-01', '--often'], 2, "Unknown option '--often'"],
    [['2030-06-01', '2030-12-01', '--project', 'none.json'], 3, 'there is no none.json'],
    [['--help'], 0, 'Exit codes: 0 nothing is left to do'],
  ])('%j: exit %i', async (words, exit, text) => {
    expect(await install().upgrade(...words)).toEqual({ exit, printed: expect.stringContaining(text) })
  })
})
