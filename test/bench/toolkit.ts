/**
 * `npm run bench:toolkit`: each stage's and emitter's share on the four documents, beside openapi-typescript alone;
 * whole runs (cold, one line edited, unchanged); and cost and memory on made-up families of 5, 20 and 60 versions.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { loadChanges } from '../../generators/changes.ts'
import { readConfig } from '../../generators/config.ts'
import { createReport } from '../../generators/diagnostics.ts'
import { emitHandlers } from '../../generators/emit/handlers.ts'
import { emitReference } from '../../generators/emit/reference.ts'
import { emitRoutes } from '../../generators/emit/routes.ts'
import { emitTranslations } from '../../generators/emit/translations.ts'
import { printTypes } from '../../generators/emit/types.ts'
import { emitValidators } from '../../generators/emit/validators.ts'
import { checkExtensions } from '../../generators/extensions.ts'
import { claimSteps, judge } from '../../generators/gate.ts'
import { buildApi } from '../../generators/ir/build.ts'
import { findProblems } from '../../generators/lint.ts'
import { loadDocument } from '../../generators/load.ts'
import { makeDocument, versionName } from '../toolkit/synthetic.ts'

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
  await share('extensions', () => checkExtensions(apis, config.extensions!, report))
  await share('lint (Redocly, in a worker)', async () => {
    for (const { file, text, json } of documents) await findProblems(file, text, json)
  })
  const changes = await loadChanges(
    config.versions,
    apis.map((api) => api.version),
    report,
  )
  await share('gate', () => judge(claimSteps(apis, changes), config))
  await share('types (openapi-typescript’s transformation, in a worker)', () => printTypes(apis))
  const translations = await share('translations', () => emitTranslations(apis, changes, report, config.out))
  await share('validators', () => emitValidators(apis))
  await share('routes', () => emitRoutes(apis, translations.bindings, report))
  await share('handlers', () => emitHandlers(apis))
  await share('reference', () => emitReference(apis, config.wire))
  await share('beside: openapi-typescript alone', async () => {
    for (const { json } of documents)
      astToString(await openapiTS(json as unknown as OpenAPI3, { silent: true }))
  })
  print('processor time of each stage on the four documents, the first time in a process')
  for (const [name, ms] of shares) print(`  ${name.padEnd(60)}${seconds(ms).padStart(9)}`)
}

interface Run {
  readonly wall: number
  readonly processor: number
  readonly memory: number
}

/** One run of the command in a process of its own. @param cache of its own folder, or none at all. */
function command(args: readonly string[], cache: boolean): Run {
  const start = performance.now()
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', resolve('test/bench/usage.ts'), resolve('generators/cli.ts'), ...args],
    { encoding: 'utf8', env: { ...process.env, DATELINE_CACHE: cache ? '' : 'off' } },
  )
  const wall = performance.now() - start
  const usage = /usage (\d+) (\d+)$/m.exec(stderr)
  if (status !== 0 || !usage) throw new Error(`dateline ${args.join(' ')} ended with ${status}\n${stderr}`)
  return { wall, processor: Number(usage[1]) / 1000, memory: Number(usage[2]) / 1024 }
}

const shown = ({ wall, processor, memory }: Run) =>
  `${seconds(wall).padStart(9)} wall${seconds(processor).padStart(9)} processor${memory.toFixed(0).padStart(6)} MB`

/** The project's own documents in a folder of their own, so that nothing of the project is touched. */
function printRuns(folder: string): void {
  for (const name of ['openapi', 'versions', 'generated', 'runtime'])
    cpSync(name, join(folder, name), { recursive: true })
  cpSync('dateline.config.json', join(folder, 'dateline.config.json'))
  const args = ['--config', join(folder, 'dateline.config.json')]
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
    `  generate, cold                 ${shown(command([...args, 'generate'], false))}   (at most 4 s alone on the machine)`,
  )
  command([...args, 'generate'], true)
  print(`  generate, unchanged            ${shown(command([...args, 'generate'], true))}   (at most 0.5 s)`)
  print(`  check, unchanged               ${shown(command([...args, 'check'], true))}`)
  const text = readFileSync(edited, 'utf8')
  writeFileSync(edited, text.replace(/^( {6}summary: \w+)/m, '$1 edited'))
  print(`  generate, one line edited      ${shown(command([...args, 'generate'], true))}   (at most 1.5 s)`)
}

function printFamilies(folder: string): void {
  print('\nmade-up families, cold: 3.0 documents in JSON, of versions × operations')
  const sizes: readonly (readonly [versions: number, resources: number])[] = [
    [5, 24],
    [20, 24],
    [60, 24],
    [5, 48],
    [5, 96],
  ]
  for (const [versions, resources] of sizes) {
    const family = join(folder, `${versions}-${resources}`)
    mkdirSync(join(family, 'openapi'), { recursive: true })
    for (let version = 0; version < versions; version++) {
      const text = JSON.stringify(makeDocument({ resources, version }), null, 1)
      writeFileSync(join(family, 'openapi', `${versionName(version)}.json`), text)
    }
    writeFileSync(join(family, 'dateline.config.json'), '{ "documents": "./openapi", "out": "./out" }')
    const run = command(['--config', join(family, 'dateline.config.json'), 'generate'], false)
    const operations = resources * 5
    const each = (run.processor / (versions * operations)).toFixed(2)
    print(
      `  ${String(versions).padStart(3)} × ${String(operations).padStart(3)} ${shown(run)}   ${each} ms of processor an operation`,
    )
  }
}

await printShares()
const folder = mkdtempSync('test/bench/.toolkit-')
try {
  printRuns(folder)
  printFamilies(folder)
} finally {
  rmSync(folder, { recursive: true })
}
