/**
 * Makes the files of the published package: `npm pack` runs `pack.ts prepare` before and `pack.ts restore` after.
 *
 * In this repository the exports are TypeScript, which Node runs without a build. Node refuses to strip types in `node_modules`, so the
 * published package holds JavaScript and declarations in `dist`, and a manifest whose exports lead there. npm has no setting for
 * exports that differ once published, so `prepare` replaces the manifest and `restore` puts it back.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { rolldown } from 'rolldown'

const FOLDER = join(import.meta.dirname, '..')
const MANIFEST = join(FOLDER, 'package.json')
const KEPT = join(FOLDER, 'package.source.json')
const DIST = join(FOLDER, 'dist')
const LICENSE = join(FOLDER, 'LICENSE')

/** Text files that emitters read, and the sources that generated clients copy. */
const ASSETS = [
  '**/*.{hbs,css,svg}',
  'findings.md',
  'emit/site/assets/*.js',
  'client-runtime/*.ts',
  'client-upgrade/*.ts',
  'client-testing/*.ts',
  './runtime/{contract,explain,forbidden,formats,nearest,parameters,path-matcher,values}.ts',
  './runtime/explain/*.ts',
]

/** Optional peers of the published package. A workspace with peers would install them in production. */
const PEERS = {
  '@modelcontextprotocol/server': '^2.4.0',
  express: '>=4',
  fastify: '>=4',
  hono: '>=4',
  'ts-morph': '28.0.0',
  vitest: '>=3',
}

/**
 * Packages from which generating uses a small part, and the compiled file that imports it. The file is bundled with that
 * part, which takes 3 MB; installed, the packages and their dependencies take 45 MB.
 */
const BUNDLED = {
  '@redocly/openapi-core': 'document/redocly.js',
  'openapi-typescript': 'emit/types/openapi-typescript.js',
}

interface Manifest {
  readonly bin: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly private?: boolean
  readonly gitHead?: string
  readonly scripts?: unknown
}

const compiled = (path: string, extension: string) =>
  path.replace(/^(?:\.\/)?(.*)\.ts$/, `./dist/$1${extension}`)

/** @returns the manifest of the published package. What generating needs is a development dependency here, and a dependency there. */
function publishedManifest({ private: _, scripts, devDependencies, gitHead, ...manifest }: Manifest): object {
  const { bin, exports, dependencies } = manifest
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env
  const needed = Object.entries(devDependencies).filter(
    ([name]) => !Object.hasOwn(PEERS, name) && !Object.hasOwn(BUNDLED, name),
  )
  return {
    ...manifest,
    bin: Object.fromEntries(Object.entries(bin).map(([name, path]) => [name, compiled(path, '.js')])),
    exports: Object.fromEntries(
      Object.entries(exports).map(([name, path]) => [
        name,
        path.endsWith('.ts') ? { types: compiled(path, '.d.ts'), default: compiled(path, '.js') } : path,
      ]),
    ),
    // `git archive` replaces the placeholder of a checkout by the commit.
    ...(gitHead?.startsWith('$') === false && { gitHead }),
    files: ['dist'],
    // Provenance requires the repository that the workflow runs in.
    ...(GITHUB_REPOSITORY !== undefined && {
      repository: {
        type: 'git',
        url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git`,
        directory: 'generators',
      },
    }),
    dependencies: Object.fromEntries(
      [...Object.entries(dependencies), ...needed].sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    peerDependencies: PEERS,
    peerDependenciesMeta: Object.fromEntries(Object.keys(PEERS).map((name) => [name, { optional: true }])),
  }
}

function compile(): void {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', join(FOLDER, 'tsconfig.build.json')], { stdio: 'inherit' })
  for (const pattern of ASSETS)
    for (const file of globSync(pattern, { cwd: FOLDER, exclude: ['dist', 'node_modules'] }))
      cpSync(join(FOLDER, file), join(DIST, file))
  // tsc rewrites the extensions of imports, and not those of files that are started.
  for (const file of globSync('**/*.js', { cwd: DIST })) {
    const path = join(DIST, file)
    const text = readFileSync(path, 'utf8')
    const started = text.replaceAll(/(new URL\('\.[^']*)\.ts(', import\.meta\.url\))/g, '$1.js$2')
    if (started !== text) writeFileSync(path, started)
  }
}

/** Replaces each file of BUNDLED by a bundle, and writes the licenses of the bundled packages. */
async function bundle(): Promise<void> {
  const licenses = new Map<string, string>()
  for (const file of Object.values(BUNDLED)) {
    // Types lead to packages that are not installed. No export of this package leads to them.
    rmSync(join(DIST, file.replace(/js$/, 'd.ts')))
    const input = join(DIST, file)
    const bundled = await rolldown({ input, external: 'typescript', platform: 'node' })
    const { output } = await bundled.write({ file: input, format: 'esm', codeSplitting: false })
    for (const chunk of output)
      for (const id of chunk.type === 'chunk' ? chunk.moduleIds : []) {
        const [folder, name] = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)(?=\/)/.exec(id) ?? []
        const [license] = folder === undefined ? [] : globSync('{license,LICENSE,LICENCE}*', { cwd: folder })
        if (license !== undefined) licenses.set(name!, readFileSync(join(folder!, license), 'utf8'))
      }
  }
  const texts = [...licenses].sort().map(([name, text]) => `${name}\n\n${text.trim()}\n`)
  writeFileSync(join(DIST, 'bundled-licenses.txt'), texts.join(`\n${'-'.repeat(80)}\n\n`))
}

function restore(): void {
  if (existsSync(KEPT)) renameSync(KEPT, MANIFEST)
  rmSync(DIST, { recursive: true, force: true })
  rmSync(LICENSE, { force: true })
}

async function prepare(): Promise<void> {
  restore()
  compile()
  await bundle()
  cpSync(join(FOLDER, '../LICENSE'), LICENSE)
  const manifest = readFileSync(MANIFEST, 'utf8')
  writeFileSync(KEPT, manifest)
  writeFileSync(MANIFEST, `${JSON.stringify(publishedManifest(JSON.parse(manifest)), null, 2)}\n`)
}

if (process.argv[2] === 'prepare') await prepare()
else restore()
