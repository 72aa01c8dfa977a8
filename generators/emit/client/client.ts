/** Emits one npm package with clients for all versions; each version is a subpath. */

import { basename } from 'node:path'
import { listAssets, readAsset } from '../../assets/assets.ts'
import type { LoadedChange } from '../../change/load-changes.ts'
import type { Wire } from '../../client-runtime/service.ts'
import { createReport, type Report } from '../../diagnostics/diagnostic.ts'
import type { Api, OutputFile } from '../../ir/model.ts'
import { createFile } from '../../print/file.ts'
import { literal, propertyKey } from '../../print/literal.ts'
import { printAnswerDecoders } from '../decoders/answers.ts'
import { render } from '../templates/templates.ts'
import { type WireConfig, wireOf } from '../wire/wire.ts'
import { type ClientConfig, hasUpgrade } from './config.ts'
import { errorClassNames, printErrorClasses } from './error-classes.ts'
import { printFlat } from './flat.ts'
import { printFunctions } from './functions.ts'
import { printQueries } from './react-query.ts'
import { readmeOf } from './readme.ts'
import { printResources } from './resources.ts'
import { createRows } from './rows.ts'
import { printMockedServices, printTesting } from './testing.ts'
import { upgradeManifest } from './upgrade.ts'
import { printVersion } from './version.ts'
import { printVersions } from './versions.ts'
import { printEvents } from './webhooks.ts'

const RUNTIME = 'client-runtime'
/** The command that upgrades programs, for packages with several versions. */
const UPGRADE = 'client-upgrade'
const TS_MORPH = { name: 'ts-morph', peer: '>=24' }
/** The service uses the same file. */
const VALUES = './runtime/values.ts'
/** The published package holds the compiled files next to the sources; clients get only the sources. */
const isSource = (name: string) => name.endsWith('.ts') && !name.endsWith('.d.ts')
/** The mock for tests. It reads requests with the files that the service uses. */
const TESTING = {
  /** Folders of the toolkit, and where their files are in the package. */
  sources: [
    { from: 'client-testing', to: 'src/testing', names: /./ },
    {
      from: './runtime',
      to: 'src/testing',
      names: /^(contract|explain|forbidden|formats|nearest|parameters|path-matcher)\.ts$/,
    },
    { from: './runtime/explain', to: 'src/testing/explain', names: /./ },
  ],
  peers: [
    { name: 'ajv-formats', peer: '^3', version: '3.0.1' },
    { name: 'fastest-levenshtein', peer: '^1.0.16', version: '1.0.16' },
  ],
}
const OPENAPI_FETCH = '0.17.0'
const TYPESCRIPT = '5.9.3'
/** TanStack Query for React, and the file of the runtime that only its users need. */
const REACT_QUERY = { name: '@tanstack/react-query', peer: '^5', version: '5.108.4', file: 'react-query.ts' }

const TSCONFIG = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
    types: [],
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    rewriteRelativeImportExtensions: true,
    verbatimModuleSyntax: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: true,
    declaration: true,
    sourceMap: true,
    inlineSources: true,
    rootDir: 'src',
    outDir: 'dist',
  },
  include: ['src'],
  exclude: ['src/upgrade'],
}

/** For programs that use `require`. Its package.json makes Node read the files as CommonJS. */
const COMMONJS = { folder: 'dist/cjs', tsconfig: 'tsconfig.cjs.json' }
const COMMONJS_TSCONFIG = {
  extends: './tsconfig.json',
  compilerOptions: {
    ...{ module: 'CommonJS', moduleResolution: 'Node10', outDir: COMMONJS.folder },
    verbatimModuleSyntax: false,
  },
}

/** The command runs on Node, and has no declarations. */
const UPGRADE_TSCONFIG = {
  extends: './tsconfig.json',
  compilerOptions: { declaration: false, sourceMap: false, inlineSources: false },
  include: ['src/upgrade'],
  exclude: [],
}

/**
 * Emits the files of the package, below `client/`.
 *
 * @param apis oldest first.
 * @param types source text of each version's types, from `printTypes`, by version.
 * @param license text of the license.
 */
export function emitClient(
  apis: readonly Api[],
  types: ReadonlyMap<string, string>,
  config: ClientConfig,
  wireConfig: WireConfig = {},
  report: Report = createReport(),
  changes: readonly LoadedChange[] = [],
  license?: string,
): OutputFile[] {
  const wire = wireOf(wireConfig)
  const classes = errorClassNames(apis, wire)
  const walkSince = apis.findIndex((api) => api.version === config.walkSince)
  const versions = apis.flatMap((api, index) => {
    const walked = index >= walkSince
    const decoders = api.types && printAnswerDecoders(api, report)
    const functions = printFunctions(api, wire, walked, classes, decoders?.names)
    const resources = printResources(api, wire, walked, functions.renamed, classes)
    const rowOf = createRows(api, wire, walked)
    return [
      ...(decoders ? [{ path: `src/${api.version}/decode.ts`, text: decoders.text }] : []),
      { path: `src/${api.version}/functions.ts`, text: functions.text },
      { path: `src/${api.version}/resources.ts`, text: resources },
      { path: `src/${api.version}/flat.ts`, text: printFlat(api, wire, walked, functions.renamed) },
      ...(api.events.length > 0 ? [{ path: `src/${api.version}/events.ts`, text: printEvents(api) }] : []),
      {
        path: `src/${api.version}/index.ts`,
        text: printVersion(api, classes, decoders?.names),
      },
      ...(config.reactQuery
        ? [{ path: `src/${api.version}/react-query.ts`, text: printQueries(api, functions.renamed, rowOf) }]
        : []),
      ...(config.testing ? [{ path: `src/${api.version}/testing.ts`, text: printTesting(api) }] : []),
    ]
  })
  const own = listAssets(RUNTIME)
    .filter((name) => isSource(name) && (config.reactQuery || name !== REACT_QUERY.file))
    .map((name) => `${RUNTIME}/${name}`)
  const assets = apis.some((api) => api.types) ? [...own, VALUES] : own
  const runtime = assets.map((asset) => ({ path: `src/runtime/${basename(asset)}`, text: readAsset(asset) }))
  const readme = readmeOf(apis, config, wire)
  const files = [
    { path: 'package.json', text: json(packageOf(apis, config)) },
    { path: 'tsconfig.json', text: json(TSCONFIG) },
    { path: COMMONJS.tsconfig, text: json(COMMONJS_TSCONFIG) },
    { path: 'README.md', text: render('client-readme', readme) },
    { path: 'GUIDE.md', text: render('client-guide', readme) },
    ...(license === undefined ? [] : [{ path: 'LICENSE', text: license }]),
    { path: 'src/errors.ts', text: printErrorClasses(apis, wire) },
    { path: 'src/wire.ts', text: printWire(wire) },
    { path: 'src/index.ts', text: printVersions(apis, wire, classes.values()) },
    ...runtime,
    ...(config.testing
      ? [...testingFiles(), { path: 'src/testing/services.ts', text: printMockedServices(apis, wire) }]
      : []),
    ...versions,
    ...(hasUpgrade(apis, config) ? upgradeFiles(apis, config, wire, changes) : []),
  ].map(({ path, text }) => ({ path: `client/${path}`, text }))
  return [...files, ...emitClientTypes(apis, types)]
}

/** Emits only the types of each version. The service's types are based on these. */
export function emitClientTypes(apis: readonly Api[], types: ReadonlyMap<string, string>): OutputFile[] {
  return apis.map(({ version }) => ({
    path: `client/src/${version}/types.ts`,
    text: types.get(version) ?? '',
  }))
}

function upgradeFiles(
  apis: readonly Api[],
  { package: { name } }: ClientConfig,
  { versionHeader, idempotencyHeader }: Wire,
  changes: readonly LoadedChange[],
): OutputFile[] {
  const managed = [versionHeader, idempotencyHeader].flatMap((each) => each?.toLowerCase() ?? [])
  return [
    {
      path: 'upgrade.json',
      text: `${JSON.stringify(upgradeManifest(name, apis, changes, managed), null, 1)}\n`,
    },
    { path: 'tsconfig.upgrade.json', text: json(UPGRADE_TSCONFIG) },
    ...listAssets(UPGRADE)
      .filter(isSource)
      .map((file) => ({ path: `src/upgrade/${file}`, text: unchecked(readAsset(`${UPGRADE}/${file}`)) })),
  ]
}

/** The files of the mock are beside each other in the package, and the client's runtime is in its own folder. */
function testingFiles(): OutputFile[] {
  return TESTING.sources.flatMap(({ from, to, names }) =>
    listAssets(from)
      .filter((name) => isSource(name) && names.test(name))
      .map((name) => ({
        path: `${to}/${name}`,
        text: readAsset(`${from}/${name}`)
          .replaceAll("from '../runtime/", "from './")
          .replaceAll(`from '../${RUNTIME}/`, "from '../runtime/"),
      })),
  )
}

/** The sources are checked here: a program that includes those of its client need not have the types of Node and ts-morph. */
const unchecked = (text: string): string => text.replace(/^(#!.*\n)?/, '$1// @ts-nocheck\n')

function packageOf(apis: readonly Api[], config: ClientConfig): Record<string, unknown> {
  const entry = (file: string) =>
    Object.fromEntries(
      [
        ['import', 'dist'],
        ['require', COMMONJS.folder],
      ].map(([condition, folder]) => [
        condition,
        { types: `./${folder}/${file}.d.ts`, default: `./${folder}/${file}.js` },
      ]),
    )
  const subpaths = apis.flatMap(({ version }) => [
    [`./${version}`, entry(`${version}/index`)],
    [`./${version}/functions`, entry(`${version}/functions`)],
    ...(config.reactQuery ? [[`./${version}/react-query`, entry(`${version}/react-query`)]] : []),
    ...(config.testing ? [[`./${version}/testing`, entry(`${version}/testing`)]] : []),
  ])
  const upgrades = hasUpgrade(apis, config)
  const built = [...(config.reactQuery ? [REACT_QUERY] : []), ...(config.testing ? TESTING.peers : [])]
  const peers = [...built, ...(upgrades ? [TS_MORPH] : [])]
  return {
    ...config.package,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.3' },
    ...(upgrades && { bin: { [config.package.name.replace(/^@[^/]+\//, '')]: './dist/upgrade/cli.js' } }),
    files: ['dist', 'GUIDE.md', ...(upgrades ? ['upgrade.json'] : [])],
    exports: Object.fromEntries([['.', entry('index')], ...subpaths]),
    scripts: {
      build: [
        'tsc -p tsconfig.json',
        `tsc -p ${COMMONJS.tsconfig}`,
        `node -e "fs.writeFileSync('${COMMONJS.folder}/package.json', JSON.stringify({ type: 'commonjs' }))"`,
        ...(upgrades ? ['tsc -p tsconfig.upgrade.json'] : []),
      ].join(' && '),
      prepare: 'npm run build',
    },
    dependencies: { 'openapi-fetch': OPENAPI_FETCH },
    ...(peers.length > 0 && {
      peerDependencies: Object.fromEntries(peers.map(({ name, peer }) => [name, peer])),
      peerDependenciesMeta: Object.fromEntries(peers.map(({ name }) => [name, { optional: true }])),
    }),
    devDependencies: {
      ...Object.fromEntries(built.map(({ name, version }) => [name, version])),
      typescript: TYPESCRIPT,
    },
  }
}

function printWire(wire: Wire): string {
  const file = createFile(['wire'])
  file.print(
    '/** Names on the wire. */',
    `export const wire: ${file.use('Wire', './runtime/service.ts', { type: true })} = {`,
    ...Object.entries(wire).map(([name, value]) => `  ${propertyKey(name)}: ${literal(value)},`),
    '}',
  )
  return file.text()
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
