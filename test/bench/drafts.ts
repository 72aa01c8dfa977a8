/**
 * `npm run bench:drafts -- FOLDER…`: what `generate --fix` writes for real families, one in each folder: how many drafts load,
 * type-check, leave a decision, and pass the proof as they are written.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { holesIn } from '../../generators/change/decide.ts'
import { type LoadedChange, loadChanges } from '../../generators/change/load-changes.ts'
import { generate, loadFamily } from '../../generators/cli/library.ts'
import { createReport } from '../../generators/diagnostics/diagnostic.ts'
import { claimSteps } from '../../generators/gate/steps.ts'
import { loadConfig } from '../../generators/generate/config.ts'
import { loadApis } from '../../generators/generate/generate.ts'
import { proveSteps } from '../../generators/prove/family.ts'
import { refute } from '../../generators/prove/law.ts'
import { programOf } from '../versions/compile.ts'

const RUNS = 50
const print = (line = '') => void process.stdout.write(`${line}\n`)

interface Score {
  drafts: number
  loaded: number
  compiled: number
  holed: number
  proven: number
  refuted: string[]
  others: string[]
}

async function scoreFamily(source: string): Promise<Score> {
  const folder = mkdtempSync('test/bench/.drafts-')
  const started = performance.now()
  try {
    mkdirSync(join(folder, 'openapi'))
    for (const name of readdirSync(source).filter((each) => /\.ya?ml$|\.json$/.test(each)))
      copyFileSync(join(source, name), join(folder, 'openapi', name))
    mkdirSync(join(folder, 'versions'))
    const file = join(folder, 'dateline.config.json')
    const config = { documents: './openapi', versions: './versions', out: './generated', emit: ['types'] }
    writeFileSync(file, JSON.stringify(config))
    const { findings } = await generate(loadFamily(file), { fix: true })
    return await scoreDrafts(
      file,
      findings
        .filter(({ severity, code }) => severity === 'error' && code !== 'change-undecided')
        .map(({ code, message }) => `${code}: ${message.slice(0, 250)}`),
    )
  } finally {
    print(`${source}: ${((performance.now() - started) / 1000).toFixed(1)} s`)
    rmSync(folder, { recursive: true })
  }
}

async function scoreDrafts(file: string, others: string[]): Promise<Score> {
  const report = createReport()
  const config = await loadConfig(file, report)
  report.finish()
  const apis = await loadApis(config!, report)
  const changes = await loadChanges(
    config!.versions,
    apis.map(({ version }) => version),
    createReport(),
  )
  const files = readdirSync(config!.versions!, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(config!.versions!, name))
  const wrong = errorsOf(files)
  const isClosed = (change: LoadedChange) => holesIn(change).length === 0
  const closed = changes.filter(isClosed)
  const refuted = new Map<string, string>()
  for (const law of proveSteps(claimSteps(apis, closed))) {
    if (law.file === undefined || refuted.has(law.file)) continue
    const found = refute(law, { runs: RUNS, seed: 1, limit: 2000 })
    if (found) refuted.set(law.file, `${law.name}: ${found.message}`.slice(0, 300))
  }
  return {
    drafts: files.length,
    loaded: changes.length,
    compiled: files.length - wrong.size,
    holed: changes.length - closed.length,
    proven: closed.length - refuted.size,
    refuted: [...refuted.values()],
    others: [
      ...others,
      ...[...wrong].map(
        ([name, text]) => `${name}: ${text}\n    ${/lenses.*/.exec(readFileSync(name, 'utf8'))?.[0]}`,
      ),
    ],
  }
}

/** Returns the first type error of each file. */
function errorsOf(files: readonly string[]): Map<string, string> {
  const program = programOf(
    new Map(files.map((file) => [join(process.cwd(), file), readFileSync(file, 'utf8')])),
  )
  return new Map(
    files.flatMap((file): [string, string][] => {
      const [first] = [
        ...program.getSyntacticDiagnostics(program.getSourceFile(join(process.cwd(), file))),
        ...program.getSemanticDiagnostics(program.getSourceFile(join(process.cwd(), file))),
      ]
      return first ? [[file, ts.flattenDiagnosticMessageText(first.messageText, ' ').slice(0, 300)]] : []
    }),
  )
}

const total = { drafts: 0, loaded: 0, compiled: 0, holed: 0, proven: 0 }
for (const folder of process.argv.slice(2)) {
  const score = await scoreFamily(folder)
  for (const each of ['drafts', 'loaded', 'compiled', 'holed', 'proven'] as const) total[each] += score[each]
  for (const line of [...score.refuted, ...score.others]) print(`  ${line}`)
}
print(
  `${total.drafts} drafts: ${total.loaded} load, ${total.compiled} type-check, ${total.holed} leave a decision, ${total.proven} of the other ${total.loaded - total.holed} pass the proof`,
)
