/**
 * `npm run simulate:mutants`: puts faults into the money, the events and the idempotency of the runtime, one at a time, and
 * counts how many of them a few seeds find. A fault in code that no seed reaches survives without a run.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command } from 'commander'
import { createRandom } from '../../../runtime/platform/random.ts'
import { COMPILED } from '../../support/programs.ts'
import { SERVER_VARIABLE, type SimulationServer, withServer } from '../server.ts'
import { EQUIVALENT } from './equivalent.ts'
import { type Mutation, mutationsOfCode, mutationsOfSql } from './mutations.ts'
import { makeScratch, ROOT, type Scratch } from './scratch.ts'

const FILES = ['runtime/money/**/*.{ts,sql}', 'runtime/events/**/*.{ts,sql}', 'runtime/api/idempotency*.ts']

type Verdict = 'killed' | 'survived' | 'not reached' | 'equivalent'

const program = new Command('simulate:mutants')
  .option('--seed <text>', 'chooses the faults', '1')
  .option('--count <number>', 'faults', Number, 200)
  .option('--from <number>', 'first fault to try, to continue a run', Number, 0)
  .option('--seeds <list>', 'seeds to run with each fault', '1,2')
  .option('--days <number>', 'days of each seed', Number, 1)
  .option('--tenants <number>', 'merchants', Number, 2)
  .option('--actions <number>', 'actions of each merchant in a day', Number, 24)
  .option('--patience <seconds>', 'a run that takes longer is a fault that was found', Number, 900)
  .option('--reached', 'leave out faults in code that no seed reaches')
  .option('--log <file>', 'appends each verdict')
  .parse()
const options = program.opts()
const seeds: readonly string[] = options.seeds.split(',')

/** Starts the simulation in a folder. Resolves with its exit code and its last line. */
function simulate(directory: string, seed: string, env: Readonly<Record<string, string>>) {
  const script = join(directory, 'test/simulation/simulate.ts')
  const words = [
    script,
    '--seed',
    seed,
    '--days',
    String(options.days),
    '--tenants',
    String(options.tenants),
    '--actions',
    String(options.actions),
  ]
  const child = spawn(process.execPath, words, {
    cwd: directory,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...env },
  })
  let last = ''
  const hear = (chunk: Buffer) => {
    last = (last + chunk.toString()).slice(-2000)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const late = setTimeout(() => child.kill('SIGKILL'), options.patience * 1000)
  return new Promise<{ readonly code: number | null; readonly last: string }>((resolve) => {
    child.on('close', (code) => {
      clearTimeout(late)
      resolve({ code, last: last.trim().split('\n').at(-1) ?? '' })
    })
  })
}

/** Ranges of a file that no seed reaches, with nested ranges that one reaches: as V8 reports them. */
interface CoveredFunction {
  readonly ranges: readonly {
    readonly startOffset: number
    readonly endOffset: number
    readonly count: number
  }[]
}

/** Returns whether a place in a file was reached. Throws if the simulation fails without any fault. */
async function measureReach(scratch: Scratch, env: Readonly<Record<string, string>>) {
  const reached = new Map<string, CoveredFunction[][]>()
  for (const seed of seeds) {
    const coverage = mkdtempSync(join(tmpdir(), 'svc-coverage-'))
    const { code, last } = await simulate(scratch.directory, seed, { ...env, NODE_V8_COVERAGE: coverage })
    if (code !== 0) throw new Error(`seed ${seed} fails without a fault: ${last}`)
    for (const file of readdirSync(coverage)) {
      const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as {
        readonly result: readonly { readonly url: string; readonly functions: CoveredFunction[] }[]
      }
      for (const { url, functions } of result) {
        if (!url.startsWith('file:')) continue
        const path = fileURLToPath(url)
        reached.set(path, [...(reached.get(path) ?? []), functions])
      }
    }
    rmSync(coverage, { recursive: true })
  }
  return ({ file, start }: Mutation): boolean => {
    if (file.endsWith('.sql')) return true
    const runs = reached.get(join(scratch.directory, file)) ?? []
    return runs.some((functions) => {
      let [size, count] = [Number.POSITIVE_INFINITY, 0]
      for (const range of functions.flatMap(({ ranges }) => ranges)) {
        const length = range.endOffset - range.startOffset
        if (range.startOffset <= start && start < range.endOffset && length <= size)
          [size, count] = [length, range.count]
      }
      return count > 0
    })
  }
}

function sample(): readonly Mutation[] {
  const files = globSync(FILES, { cwd: ROOT }).toSorted()
  const all = files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8')
    return file.endsWith('.sql') ? mutationsOfSql(file, text) : mutationsOfCode(file, text)
  })
  const random = createRandom(options.seed)
  // Fisher and Yates' shuffle.
  for (let index = all.length - 1; index > 0; index -= 1) {
    const other = random.between(0, index)
    ;[all[index], all[other]] = [all[other]!, all[index]!]
  }
  console.log(`${all.length} faults are possible in ${files.length} files`)
  return all
}

async function judge(
  scratch: Scratch,
  mutation: Mutation,
  env: Readonly<Record<string, string>>,
): Promise<[Verdict, string]> {
  const text = readFileSync(join(ROOT, mutation.file), 'utf8')
  scratch.write(mutation.file, text.slice(0, mutation.start) + mutation.text + text.slice(mutation.end))
  try {
    for (const seed of seeds) {
      const { code, last } = await simulate(scratch.directory, seed, env)
      if (code !== 0) return ['killed', `seed ${seed}: ${last}`]
    }
  } finally {
    scratch.write(mutation.file, text)
  }
  const reason = EQUIVALENT.find(({ file, what }) => file === mutation.file && what === mutation.what)?.reason
  return reason === undefined ? ['survived', ''] : ['equivalent', reason]
}

async function main(server: SimulationServer): Promise<void> {
  const env = { [SERVER_VARIABLE]: JSON.stringify(server) }
  const scratch = makeScratch()
  try {
    const isReached = await measureReach(scratch, env)
    const counts: Record<Verdict, number> = { killed: 0, survived: 0, 'not reached': 0, equivalent: 0 }
    const all = sample()
    const chosen = (options.reached ? all.filter(isReached) : all).slice(0, options.count)
    for (const [index, mutation] of chosen.entries()) {
      if (index < options.from) continue
      const [verdict, why] = isReached(mutation)
        ? await judge(scratch, mutation, env)
        : (['not reached', ''] as const)
      counts[verdict] += 1
      const line = `${index + 1} ${verdict} ${mutation.file}:${mutation.line} ${mutation.what}${why && ` – ${why}`}`
      console.log(line)
      if (options.log) appendFileSync(options.log, `${line}\n`)
    }
    const judged = counts.killed + counts.survived
    console.log(JSON.stringify(counts))
    console.log(`${counts.killed} of ${judged} faults in code that is reached were found`)
  } finally {
    scratch.remove()
  }
}

await withServer(main)
