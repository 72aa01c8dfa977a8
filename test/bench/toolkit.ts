/**
 * `npm run bench:toolkit`: each stage's and emitter's share on the four documents, beside openapi-typescript alone;
 * whole runs (cold, one line edited, unchanged); and cost and memory on made-up families of 5, 20 and 60 versions.
 * `npm run bench:toolkit -- --beside FOLDER --rounds 3`: beside openapi-typescript, hey-api and orval on the documents of a folder.
 * `npm run bench:toolkit -- --documents 58 --megabytes 0.9`: one made-up family of that size alone.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { loadChanges } from '../../generators/change/load-changes.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { findProblems } from '../../generators/document/lint.ts'
import { loadDocument } from '../../generators/document/load.ts'
import { emitHandlers } from '../../generators/emit/handlers/handlers.ts'
import { emitRoutes } from '../../generators/emit/routes/routes.ts'
import { emitSite } from '../../generators/emit/site/site.ts'
import { emitTranslations } from '../../generators/emit/translations/translations.ts'
import { printTypes } from '../../generators/emit/types/types.ts'
import { emitValidators } from '../../generators/emit/validators/validators.ts'
import { checkSteps } from '../../generators/gate/gate.ts'
import { claimSteps } from '../../generators/gate/steps.ts'
import { readConfig } from '../../generators/generate/config.ts'
import { checkExtensions, readExtensionRules } from '../../generators/generate/extensions.ts'
import { buildApi } from '../../generators/ir/build.ts'
import { makeDocument, versionName } from '../toolkit/synthetic.ts'
import { type Scratch, withScratch } from './scratch.ts'
import { measureBeside } from './toolkit-beside.ts'
import { measureFamily, type Run } from './toolkit-family.ts'

const print = (line = '') => void process.stdout.write(`${line}\n`)
const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`

const shares: [string, number][] = []

/** Runs a stage and notes what it took: processor time, since others use the machine too. */
async function share<Result>(name: string, run: () => Result | Promise<Result>): Promise<Result> {
  const before = process.cpuUsage()
  const result = await run()
  const { user, system } = process.cpuUsage(before)
  shares.push([name, (user + system) / 1000])
  return result
}

async function printShares(): Promise<void> {
  const report = createReport()
  const config = readConfig('dateline.config.json', report)!
  const documents = await share('load', () => config.documents.map((file) => loadDocument(file, report)!))
  const apis = await share('build', () => documents.map((document) => buildApi(document, report)))
  await share('extensions', () => checkExtensions(apis, readExtensionRules(config.extensions), report))
  await share('lint (Redocly, in a worker)', async () => {
    for (const { file, text, json } of documents) await findProblems(file, text, json)
  })
  const changes = await loadChanges(
    config.versions,
    apis.map((api) => api.version),
    report,
  )
  await share('gate', () => checkSteps(claimSteps(apis, changes), config))
  await share('types (openapi-typescript’s transformation, in a worker)', () => printTypes(apis))
  const translations = await share('translations', () => emitTranslations(apis, changes, report, config.out))
  await share('validators', () => emitValidators(apis))
  await share('routes', () =>
    emitRoutes(apis, translations.bindings, report, readExtensionRules(config.extensions)),
  )
  await share('handlers', () => emitHandlers(apis))
  await share('site', () => emitSite(apis, { wire: config.wire }))
  await share('beside: openapi-typescript alone', async () => {
    for (const { json } of documents)
      astToString(await openapiTS(json as unknown as OpenAPI3, { silent: true }))
  })
  print('processor time of each stage on the four documents, the first time in a process')
  for (const [name, ms] of shares) print(`  ${name.padEnd(60)}${seconds(ms).padStart(9)}`)
}

/** One run of a script in a process of its own. @param cache whether it may use the cache of its folder. */
async function execute(
  scratch: Scratch,
  script: string,
  args: readonly string[],
  { cache = true, cwd = process.cwd(), status: wanted = 0 } = {},
): Promise<Run> {
  const start = performance.now()
  const child = spawn(
    process.execPath,
    ['--import', resolve('test/bench/usage.ts'), resolve(script), ...args],
    { cwd, stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, DATELINE_CACHE: cache ? '' : 'off' } },
  )
  scratch.own(child)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const [status] = await once(child, 'close')
  const wall = performance.now() - start
  const usage = /usage (\d+) (\d+)$/m.exec(stderr)
  if (status !== wanted || !usage)
    throw new Error(`${script} ${args.join(' ')} ended with ${status}\n${stderr}`)
  return { wall, processor: Number(usage[1]) / 1000, memory: Number(usage[2]) / 1024 }
}

const command = (scratch: Scratch, args: readonly string[], cache: boolean): Promise<Run> =>
  execute(scratch, 'generators/cli.ts', args, { cache })

const shown = ({ wall, processor, memory }: Run) =>
  `${seconds(wall).padStart(9)} wall${seconds(processor).padStart(9)} processor${memory.toFixed(0).padStart(6)} MB`

/** The project's own documents in a folder of their own, so that nothing of the project is touched. */
async function printRuns(scratch: Scratch): Promise<void> {
  const folder = scratch.directory
  for (const name of ['openapi', 'versions', 'generated', 'runtime', 'docs/site'])
    cpSync(name, join(folder, name), { recursive: true })
  // What the copies import.
  for (const name of ['generators', 'node_modules', 'package.json'])
    symlinkSync(resolve(name), join(folder, name))
  cpSync('dateline.config.json', join(folder, 'dateline.config.json'))
  const run = (cache: boolean, name: string) =>
    command(scratch, ['--config', join(folder, 'dateline.config.json'), name], cache)
  const edited = join(
    folder,
    'openapi',
    readdirSync('openapi')
      .filter((name) => name.endsWith('.yaml'))
      .sort()
      .at(-1)!,
  )
  print('\nwhole runs on the four documents')
  print(
    `  generate, cold                 ${shown(await run(false, 'generate'))}   (at most 4 s alone on the machine)`,
  )
  await run(true, 'generate')
  print(`  generate, unchanged            ${shown(await run(true, 'generate'))}   (at most 0.5 s)`)
  print(`  check, unchanged               ${shown(await run(true, 'check'))}`)
  const text = readFileSync(edited, 'utf8')
  writeFileSync(edited, text.replace(/^( {6}summary: \w+)/m, '$1 edited'))
  print(`  generate, one line edited      ${shown(await run(true, 'generate'))}   (at most 1.5 s)`)
}

async function printFamilies(scratch: Scratch): Promise<void> {
  print('\nmade-up families, cold: 3.0 documents in JSON, of versions × operations')
  const sizes: readonly (readonly [versions: number, resources: number])[] = [
    [5, 24],
    [20, 24],
    [60, 24],
    [5, 48],
    [5, 96],
  ]
  for (const [versions, resources] of sizes) {
    const family = join(scratch.directory, `${versions}-${resources}`)
    mkdirSync(join(family, 'openapi'), { recursive: true })
    for (let version = 0; version < versions; version++) {
      const text = JSON.stringify(makeDocument({ resources, version }), null, 1)
      writeFileSync(join(family, 'openapi', `${versionName(version)}.json`), text)
    }
    writeFileSync(join(family, 'dateline.config.json'), '{ "documents": "./openapi", "out": "./out" }')
    const run = await command(scratch, ['--config', join(family, 'dateline.config.json'), 'generate'], false)
    const operations = resources * 5
    const each = (run.processor / (versions * operations)).toFixed(2)
    print(
      `  ${String(versions).padStart(3)} × ${String(operations).padStart(3)} ${shown(run)}   ${each} ms of processor an operation`,
    )
  }
}

const { values: wishes } = parseArgs({
  options: {
    beside: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    documents: { type: 'string' },
    megabytes: { type: 'string', default: '0.9' },
  },
})

if (wishes.beside !== undefined) {
  const { beside, rounds } = wishes
  print(`${beside}, the median of ${rounds} rounds`)
  await withScratch((scratch) =>
    measureBeside(
      scratch.directory,
      beside,
      Number(rounds),
      (script, args, options) => execute(scratch, script, args, options),
      (name, run) => print(`  ${name.padEnd(34)}${shown(run)}`),
    ),
  )
}

if (wishes.documents !== undefined) {
  const [documents, megabytes] = [Number(wishes.documents), Number(wishes.megabytes)]
  print(`a made-up family of ${documents} documents of ${megabytes} MB`)
  await withScratch((scratch) =>
    measureFamily(
      scratch.directory,
      documents,
      megabytes,
      (script, args, options) => execute(scratch, script, args, options),
      (name, run) => print(`  ${name.padEnd(28)}${shown(run)}`),
    ),
  )
}
await printShares()
await withScratch(async (scratch) => {
  await printRuns(scratch)
  await printFamilies(scratch)
})
