/**
 * `npm run simulate:mutants`: puts faults into the money, the events and the idempotency of the runtime, one at a time, and
 * counts how many of them the simulation finds. Each fault is tried only in plans that run the wrong code, the cheapest
 * first, until one finds it.
 */
import { spawn } from 'node:child_process'
import { appendFileSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { createRandom } from '../../../runtime/platform/random.ts'
import { COMPILED, ROOT } from '../../support/programs.ts'
import { SERVER_VARIABLE, type SimulationServer, withServer } from '../server.ts'
import { openCompiler } from './compiles.ts'
import { reasonFor } from './equivalent.ts'
import { type Mutation, mutationsOfCode, mutationsOfSql } from './mutations.ts'
import { PLANS } from './plans.ts'
import { readReach } from './reach.ts'
import { FAULTS_VARIABLE, STATEMENTS_VARIABLE } from './replacement.ts'

const FILES = ['runtime/money/**/*.{ts,sql}', 'runtime/events/**/*.{ts,sql}', 'runtime/api/idempotency*.ts']

type Verdict = 'killed' | 'survived' | 'not reached' | 'equivalent'

const program = new Command('simulate:mutants')
  .option('--seed <text>', 'chooses the faults', '1')
  .option('--count <number>', 'faults', Number, 200)
  .option('--from <number>', 'first fault to try, to continue a run', Number, 0)
  .option('--plans <list>', 'plans to try', Object.keys(PLANS).join(','))
  .option('--jobs <number>', 'faults that are tried at once', Number, 2)
  .option(
    '--processor <seconds>',
    'a plan that takes more processor time is a fault that was found',
    Number,
    120,
  )
  .option('--only <text>', 'only faults whose file, line and change contain this text')
  .option('--all', 'count faults in code that no plan reaches, too')
  .option('--log <file>', 'appends each verdict')
  .parse()
const options = program.opts()
const plans: readonly string[] = options.plans.split(',')

interface Ended {
  readonly code: number | null
  readonly last: string
}

/** Runs plans in a process of their own, with a limit of processor time. */
function attempt(names: readonly string[], env: Env): Promise<Ended> {
  const words = ['--import', './test/simulation/mutants/fault.ts', 'test/simulation/mutants/try.ts', ...names]
  const limited = `ulimit -t ${options.processor * names.length}; exec "$0" "$@"`
  const child = spawn('sh', ['-c', limited, process.execPath, ...words], {
    cwd: ROOT,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...env },
  })
  let text = ''
  const hear = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-20_000)
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  return new Promise((resolve, reject) => {
    child.on('close', (code) => {
      if (NOT_OURS.test(text)) reject(new Error(`a fault cannot be judged: ${text}`))
      else resolve({ code, last: lastLineOf(text) })
    })
  })
}

const lastLineOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('Node.js v'))
    .at(-1) ?? ''

/** What a server or a machine without room says. It must not count as a fault that was found. */
const NOT_OURS = /too many clients|ECONNREFUSED|ENOSPC|No space left|heap out of memory/

type Reach = ReadonlyMap<string, (of: Mutation) => boolean>

/** Returns what each plan reaches. Throws if a plan fails without any fault. */
async function measureReach(): Promise<Reach> {
  const files = globSync('runtime/**/*.ts', { cwd: ROOT })
  const reach = new Map<string, (of: Mutation) => boolean>()
  await eachOf(plans, async (plan, env) => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-coverage-'))
    const watched = { NODE_V8_COVERAGE: folder, [STATEMENTS_VARIABLE]: join(folder, 'statements') }
    const { code, last } = await attempt([plan], { ...env, ...watched })
    if (code !== 0) throw new Error(`plan ${plan} fails without a fault: ${last}`)
    reach.set(plan, readReach(folder, ROOT, files))
    rmSync(folder, { recursive: true })
  })
  return reach
}

type Env = Readonly<Record<string, string>>

/** Does the work for each item, several at once, each with a server of its own: a simulated crash ends all connections. */
async function eachOf<T>(
  items: readonly T[],
  work: (item: T, env: Env, index: number) => Promise<void>,
): Promise<void> {
  const left = items.entries()
  const worker = async (server: SimulationServer) => {
    const env = { [SERVER_VARIABLE]: JSON.stringify(server) }
    for (const [index, item] of left) await work(item, env, index)
  }
  await Promise.all(Array.from({ length: options.jobs }, () => withServer(worker)))
}

/** Returns all possible faults in the files, in an order that the seed decides. */
function shuffled(files: readonly string[]): readonly Mutation[] {
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

const describe = ({ file, line, what }: Mutation) => `${file}:${line} ${what}`

async function judge(mutation: Mutation, reach: Reach, env: Env): Promise<readonly [Verdict, string]> {
  const useful = plans.filter((plan) => reach.get(plan)!(mutation))
  if (useful.length === 0) return ['not reached', '']
  const { code, last } = await attempt(useful, { ...env, [FAULTS_VARIABLE]: JSON.stringify([mutation]) })
  if (code !== 0) return ['killed', last]
  const reason = reasonFor(mutation)
  return reason === undefined ? ['survived', useful.join(',')] : ['equivalent', reason]
}

async function main(): Promise<void> {
  const reach = await measureReach()
  const counts: Record<Verdict, number> = { killed: 0, survived: 0, 'not reached': 0, equivalent: 0 }
  const isReached = (mutation: Mutation) => plans.some((plan) => reach.get(plan)!(mutation))
  const files = globSync(FILES, { cwd: ROOT }).toSorted()
  const all = shuffled(files).filter((mutation) => describe(mutation).includes(options.only ?? ''))
  const reached = all.filter(isReached)
  console.log(`${reached.length} of ${all.length} are in code that a plan reaches`)
  const compiles = openCompiler(
    ROOT,
    files.filter((file) => file.endsWith('.ts')),
  )
  const chosen = (options.all ? all : reached).values().filter(compiles).take(options.count).toArray()
  await eachOf(chosen.slice(options.from), async (mutation, env, index) => {
    const [verdict, why] = await judge(mutation, reach, env)
    counts[verdict] += 1
    const text = `${options.from + index + 1} ${verdict} ${describe(mutation)}${why && ` – ${why}`}`
    console.log(text)
    if (options.log) appendFileSync(options.log, `${text}\n`)
  })
  const judged = counts.killed + counts.survived
  console.log(JSON.stringify(counts))
  console.log(`${counts.killed} of ${judged} faults in code that is reached were found`)
}

await main()
