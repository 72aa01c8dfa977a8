/** The upgrade command of client packages: programs before and after, and what is reported of them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { Project, ts } from 'ts-morph'
import { beforeAll, expect, test } from 'vitest'
import { printReport } from '../../generators/client-upgrade/report.ts'
import type { UpgradeManifest } from '../../generators/client-upgrade/rules.ts'
import { stepsBetween, type UpgradeResult, upgradeProject } from '../../generators/client-upgrade/upgrade.ts'

const FOLDER = resolve('test/golden/upgrade')
const PROGRAMS = ['constants', 'marks', 'moves', 'renames', 'versions']
const manifest: UpgradeManifest = JSON.parse(readFileSync(`${FOLDER}/want/client/upgrade.json`, 'utf8'))
const steps = stepsBetween(manifest, '2030-01-01', '2030-12-01')!
const updating = process.env.UPDATE_GOLDEN === '1'

/** A project that finds the package where the golden case generates it. */
function openProject(texts: Readonly<Record<string, string>>): Project {
  const client = `${FOLDER}/want/client/src`
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
      paths: {
        '@acme/books': [`${client}/index.ts`],
        '@acme/books/*/functions': [`${client}/*/functions.ts`],
        '@acme/books/*': [`${client}/*/index.ts`],
      },
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

test('a second upgrade changes nothing', () => {
  expect(upgradeProject(project, ts, manifest, steps).files).toEqual([])
})
