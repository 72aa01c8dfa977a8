/**
 * `npm run bench:drafts -- FOLDER…`: what `generate --fix` writes for real families, one in each folder: how many drafts load,
 * type-check, leave a decision, and pass the proof as they are written. With `--decided`, all decisions are then made, with values
 * that fit the documents, and the family generates a server and a client, compiles and proves.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { holesIn } from '../../generators/change/decide.ts'
import { loadChanges } from '../../generators/change/load-changes.ts'
import { type FamilyResult, generate, loadFamily, prove } from '../../generators/cli/library.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { claimSteps } from '../../generators/gate/steps.ts'
import type { FamilyConfig } from '../../generators/generate/config.ts'
import { loadConfig } from '../../generators/generate/config.ts'
import { loadApis } from '../../generators/generate/generate.ts'
import { proveSteps } from '../../generators/prove/family.ts'
import { refute } from '../../generators/prove/law.ts'
import { filesBelow, typeErrors } from '../toolkit/standing.ts'
import { programOf } from '../versions/compile.ts'
import { completeDraft } from './completed.ts'
import { withScratch } from './scratch.ts'

const RUNS = 50
const SECONDS = 20
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { decided: { type: 'boolean', default: false } },
})
const print = (line = '') => void process.stdout.write(`${line}\n`)

/** Findings that are errors, in one line each. */
const errorsOf = ({ findings }: FamilyResult): string[] =>
  findings
    .filter(({ severity, code }) => severity === 'error' && code !== 'change-undecided')
    .map(({ code, message }) => `${code}: ${message.slice(0, 250)}`)

const total = { drafts: 0, loaded: 0, compiled: 0, holed: 0, proven: 0 }

async function measureFamily(source: string, folder: string): Promise<void> {
  const family = loadFamily(join(folder, 'dateline.config.json'))
  const configure = (config: Partial<FamilyConfig>) =>
    writeFileSync(
      family.file,
      JSON.stringify({ documents: './openapi', versions: './versions', out: './generated', ...config }),
    )
  for (const name of ['openapi', 'versions']) mkdirSync(join(folder, name))
  for (const name of readdirSync(source).filter((each) => /\.ya?ml$|\.json$/.test(each)))
    copyFileSync(join(source, name), join(folder, 'openapi', name))
  configure({ emit: ['types'] })
  const found = errorsOf(await generate(family, { fix: true }))
  found.push(...(await scoreDrafts(family.file, join(folder, 'versions'))))
  configure({ handlers: '.', strict: false, client: { package: { name: 'measured', version: '1.0.0' } } })
  if (values.decided) found.push(...(await generateDecided(source, folder)))
  print(source)
  for (const each of found) print(`  ${each}`)
}

/** Generates all that the decided family has, and returns what is wrong with it. */
async function generateDecided(source: string, folder: string): Promise<string[]> {
  const family = loadFamily(join(folder, 'dateline.config.json'))
  const out = join(folder, 'generated')
  const generated = await generate(family)
  const proof = await prove(family, { seconds: SECONDS, seed: 1 })
  print(
    `${source}: ${filesBelow(out, /\.ts$/).length} modules, ${proof.data.tried ?? 0} of ${proof.data.laws ?? 0} laws tried`,
  )
  return [...errorsOf(generated), ...(generated.ok ? typeErrors(out) : []), ...errorsOf(proof)]
}

/** Counts, completes the drafts, and returns what is wrong with them. */
async function scoreDrafts(configuration: string, folder: string): Promise<string[]> {
  const report = createReport()
  const config = await loadConfig(configuration, report)
  const apis = await loadApis(config!, report)
  const versions = apis.map(({ version }) => version)
  const changes = await loadChanges(config!.versions, versions, createReport())
  const files = filesBelow(folder, /\.ts$/)
  const wrong = misfitsIn(files)
  const closed = changes.filter((change) => holesIn(change).length === 0)
  const refuted = new Map<string, string>()
  for (const law of proveSteps(claimSteps(apis, closed))) {
    if (law.file === undefined || refuted.has(law.file)) continue
    const found = refute(law, { runs: RUNS, seed: 1, limit: 2000 })
    if (found) refuted.set(law.file, `${law.name}: ${found.message}`.slice(0, 250))
  }
  total.drafts += files.length
  total.loaded += changes.length
  total.compiled += files.length - wrong.length
  total.holed += changes.length - closed.length
  total.proven += closed.length - refuted.size
  for (const change of changes) {
    const at = versions.indexOf(change.version)
    completeDraft(change, apis[at - 1]!, apis[at]!)
  }
  return [...wrong, ...refuted.values()]
}

/** Returns the first type error of each file. */
function misfitsIn(files: readonly string[]): string[] {
  const texts = new Map(files.map((file) => [join(process.cwd(), file), readFileSync(file, 'utf8')]))
  const program = programOf(texts)
  return [...texts.keys()].flatMap((file) => {
    const source = program.getSourceFile(file)
    const [first] = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    return first ? [`${file}: ${ts.flattenDiagnosticMessageText(first.messageText, ' ').slice(0, 250)}`] : []
  })
}

await withScratch(async ({ directory }) => {
  // Drafts import the package.
  symlinkSync(resolve('node_modules'), join(directory, 'node_modules'))
  for (const [index, source] of positionals.entries()) {
    const folder = relative('.', join(directory, String(index)))
    mkdirSync(folder)
    await measureFamily(source, folder)
  }
  print(
    `${total.drafts} drafts: ${total.loaded} load, ${total.compiled} type-check, ${total.holed} leave a decision, ${total.proven} of the other ${total.loaded - total.holed} pass the proof`,
  )
})
