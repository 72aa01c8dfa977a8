/** One npm package that types every version of the API; versions are its subpaths. */
import { listAssets, readAsset } from '../../assets/assets.ts'
import type { Wire } from '../../client-runtime/service.ts'
import type { Api, OutputFile } from '../../ir/model.ts'
import { identifier, pascalCase } from '../../ir/naming.ts'
import { createFile } from '../../print/file.ts'
import { literal, propertyKey } from '../../print/literal.ts'
import { render } from '../templates/templates.ts'
import { errorTypes } from './error-catalogue.ts'
import { printVersion } from './version.ts'
import { signatureHeaderOf } from './webhooks.ts'
import { type WireConfig, wireOf } from './wire.ts'

/** `client` in the configuration file. */
export interface ClientConfig {
  /** Goes into package.json as it is: `name`, `version`, `license`, … */
  readonly package: Readonly<Record<string, unknown>> & { readonly name: string; readonly version: string }
  /** The oldest version whose lists can be walked with `for await`; all of them when absent. */
  readonly walkSince?: string
}

const RUNTIME = 'client-runtime'
const OPENAPI_FETCH = '0.17.0'
const TYPESCRIPT = '5.9.3'

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
    rootDir: 'src',
    outDir: 'dist',
  },
  include: ['src'],
}

/**
 * @param apis oldest first.
 * @param types text of each version's types (openapi-typescript's `paths` and `components`), by version.
 * @returns the files of the package, below `client/`.
 */
export function emitClient(
  apis: readonly Api[],
  types: ReadonlyMap<string, string>,
  config: ClientConfig,
  wireConfig: WireConfig = {},
): OutputFile[] {
  const wire = wireOf(wireConfig)
  const walkSince = apis.findIndex((api) => api.version === config.walkSince)
  const versions = apis.map((api, index) => ({
    path: `src/${api.version}/index.ts`,
    text: printVersion(api, wire, index >= walkSince),
  }))
  const runtime = listAssets(RUNTIME).map((name) => ({
    path: `src/runtime/${name}`,
    text: readAsset(`${RUNTIME}/${name}`),
  }))
  const files = [
    { path: 'package.json', text: json(packageOf(apis, config)) },
    { path: 'tsconfig.json', text: json(TSCONFIG) },
    { path: 'README.md', text: render('client-readme', readmeOf(apis, config)) },
    { path: 'src/errors.ts', text: printErrors(apis, wire) },
    { path: 'src/wire.ts', text: printWire(wire) },
    ...runtime,
    ...versions,
  ].map(({ path, text }) => ({ path: `client/${path}`, text }))
  return [...files, ...emitClientTypes(apis, types)]
}

/** The types of each version alone, of which those of the service are made. */
export function emitClientTypes(apis: readonly Api[], types: ReadonlyMap<string, string>): OutputFile[] {
  return apis.map(({ version }) => ({
    path: `client/src/${version}/types.ts`,
    text: types.get(version) ?? '',
  }))
}

function packageOf(apis: readonly Api[], config: ClientConfig): Record<string, unknown> {
  const subpaths = apis.map(({ version }) => [
    `./${version}`,
    { types: `./dist/${version}/index.d.ts`, default: `./dist/${version}/index.js` },
  ])
  return {
    ...config.package,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.3' },
    files: ['dist', 'src'],
    exports: Object.fromEntries(subpaths),
    scripts: { build: 'tsc -p tsconfig.json', prepare: 'npm run build' },
    dependencies: { 'openapi-fetch': OPENAPI_FETCH },
    devDependencies: { typescript: TYPESCRIPT },
  }
}

/** One class for each type of error of any version, and the table that finds it. */
function printErrors(apis: readonly Api[], wire: Wire): string {
  const types = [...new Set(apis.flatMap((api) => errorTypes(api, wire)))]
  const classes = classNames(types)
  const file = createFile(classes.values())
  const base = file.use('ResponseError', './runtime/errors.ts')
  const table = file.use('ErrorClasses', './runtime/errors.ts', { type: true })
  for (const [type, name] of classes) {
    file.print(
      `export class ${name} extends ${base} {`,
      `  override readonly name = ${literal(name)}`,
      `  declare readonly type: ${literal(type)}`,
      '}',
      '',
    )
  }
  file.print(
    '/** The class for each `type` of error. */',
    'export const errorClasses = {',
    ...[...classes].map(([type, name]) => `  ${propertyKey(type)}: ${name},`),
    `} satisfies ${table}`,
  )
  return file.text()
}

function printWire(wire: Wire): string {
  const file = createFile(['wire'])
  file.print(
    '/** What the service calls things on the wire. */',
    `export const wire: ${file.use('Wire', './runtime/service.ts', { type: true })} = {`,
    ...Object.entries(wire).map(([name, value]) => `  ${propertyKey(name)}: ${literal(value)},`),
    '}',
  )
  return file.text()
}

/** `not_found` → `NotFoundError`, `api_error` → `ApiError`; a clash gets a number. */
function classNames(types: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set([
    'ClientError',
    'ConnectionError',
    'TimeoutError',
    'ResponseError',
    'UnexpectedAnswerError',
    'WebhookError',
  ])
  return new Map(
    types.map((type) => {
      const words = pascalCase(type)
      const name = identifier(words.endsWith('Error') ? words : `${words}Error`)
      let free = name
      for (let n = 2; taken.has(free); n++) free = `${name}${n}`
      taken.add(free)
      return [type, free]
    }),
  )
}

/** What the package's README is rendered from. */
interface ReadmeView {
  readonly name: string
  readonly current: string
  readonly versions: readonly string[]
  readonly plain: string | undefined
  readonly listed: string | undefined
  /** A type of event of the current version, where its deliveries are signed. */
  readonly sent: string | undefined
}

function readmeOf(apis: readonly Api[], config: ClientConfig): ReadmeView {
  const newest = apis.at(-1)
  const operations = newest?.operations ?? []
  const gets = operations.filter((each) => each.method === 'GET' && !each.path.includes('{'))
  return {
    name: config.package.name,
    current: newest?.version ?? '',
    versions: apis.map(({ version }) => version),
    plain: gets.find((each) => each.extensions['x-pagination'] !== 'cursor')?.id,
    listed: gets.find((each) => each.extensions['x-pagination'] === 'cursor')?.id,
    sent: newest && signatureHeaderOf(newest) && newest.events[0]?.name,
  }
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
