/** `npm run network`: plays a card network against a service, by a scenario file or by seed. */
import { readFileSync, writeFileSync } from 'node:fs'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { FORMAT_NAMES } from '../../cards/clearing/formats.ts'
import {
  type ClearingFile,
  type FiledMessage,
  openClearingFile,
} from '../../cards/network-simulator/clearing-file.ts'
import { type DoorSettings, openDoor } from '../../cards/network-simulator/door.ts'
import { SIMULATOR } from '../../cards/network-simulator/identity.ts'
import { planScenario } from '../../cards/network-simulator/plan.ts'
import { happeningJson, happeningWords, summaryWords } from '../../cards/network-simulator/report.ts'
import { isSound, type RunOptions, runScenario } from '../../cards/network-simulator/run-scenario.ts'
import { drawScenario, type Scenario } from '../../cards/network-simulator/scenario.ts'
import { readScenario, ScenarioError } from '../../cards/network-simulator/scenario-file.ts'
import { settle } from '../../cards/network-simulator/settlement-report.ts'
import { createMisuse, errorJson, wantsJson } from '../../cli/terminal/error-json.ts'
import { messageOf } from '../../database/errors.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { parseInstant } from '../../platform/instants.ts'
import { readSettings, SettingsError } from '../../platform/settings.ts'
import { ControlError } from '../../tenants/admin/change.ts'
import { openDemoTenant, setUpAccess } from '../network-simulator.ts'
import { disputeAs } from '../simulated-disputes.ts'
import { operate } from './operate.ts'
import { ofProcess } from './surroundings.ts'

/** Exit codes: 1 if a message was refused, contradicted or never acknowledged, 2 for wrong options or scenarios. */
const FAILED = 1
const MISUSED = 2

interface Words {
  readonly scenario?: string
  readonly seed?: number
  readonly count: number
  readonly dev?: true
  readonly env: Environment
  readonly url?: string
  readonly cert?: string
  readonly key?: string
  readonly ca?: string
  readonly signingKey?: string
  readonly cards?: string
  readonly start?: number
  readonly rate?: number
  readonly answerMs: number
  readonly patience: number
  readonly clearingFile?: string
  readonly settlementReport?: string
  readonly json?: true
}

/** What is missing or contradictory on the command line. */
class WrongWords extends Error {}

const whole = (least: number, most: number) => (text: string) => {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  throw new InvalidArgumentError(`Expected a whole number from ${least} to ${most}.`)
}

const instant = (text: string) => {
  const value = parseInstant(text)
  if (value === undefined) throw new InvalidArgumentError('Expected an instant such as 2026-12-01T12:00:00Z.')
  return value
}

function createCommand(run: (words: Words) => Promise<void>, say: (line: string) => void): Command {
  return new Command('network')
    .description(
      'Plays a card network against this service: merchants, terminals, stand-in, retries and clearing.',
    )
    .option('--scenario <file>', 'scenario file (docs/network-simulator.md)')
    .option('--seed <n>', 'draw the scenario from this seed', whole(0, Number.MAX_SAFE_INTEGER))
    .option('--count <n>', 'number of card uses to draw', whole(1, 100_000), 20)
    .option(
      '--dev',
      'set the simulator up as the processor of a development service, with the demo tenant’s cards',
    )
    .addOption(
      new Option('--env <environment>', 'environment for --dev').choices(ENVIRONMENTS).default('sandbox'),
    )
    .option('--url <url>', 'origin of the network listener')
    .option('--cert <file>', 'client certificate (PEM)')
    .option('--key <file>', 'private key of the certificate (PEM)')
    .option('--ca <file>', 'authority of the listener’s certificate (PEM)')
    .option('--signing-key <file>', 'file with the signing key')
    .option('--cards <file>', 'file with one card number per line')
    .option('--start <instant>', 'time of the first message; the same start gives the same messages', instant)
    .option('--rate <n>', 'messages per second (default: no pause)', whole(1, 10_000))
    .option('--answer-ms <ms>', 'time that the network waits for an answer', whole(10, 60_000), 3000)
    .option('--patience <seconds>', 'time to repeat messages at the end', whole(0, 3600), 30)
    .option(
      '--clearing-file <file>',
      'write clearings and refunds to this file (.jsonl or .csv) instead of sending them',
    )
    .option('--settlement-report <file>', 'write what the network settled, for reconciliation (JSON)')
    .option('--json', 'print one line of JSON for each message')
    .showHelpAfterError()
    .exitOverride()
    .configureOutput({ writeErr: (text) => say(text.trimEnd()) })
    .addHelpText(
      'after',
      '\nExamples:\n  npm run network -- --dev --seed 7 --count 50\n  npm run network -- --dev --scenario scenario.json --json\n',
    )
    .action(run)
}

function readFile(option: string, file: string | undefined): string {
  if (file === undefined) throw new WrongWords(`${option} is missing: give it, or use --dev`)
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new WrongWords(`${option}: ${messageOf(error)}`)
  }
}

function readCards(file: string | undefined): readonly [string, ...string[]] {
  const lines = readFile('--cards', file)
    .split('\n')
    .map((line) => line.trim())
  const wrong = lines.findIndex((line) => line !== '' && !/^[0-9]{12,19}$/.test(line))
  // The line may be a mistyped card number, so it is not repeated.
  if (wrong >= 0)
    throw new WrongWords(`--cards: line ${wrong + 1} is not a card number: expected 12 to 19 digits`)
  const [first, ...others] = lines.filter((line) => line !== '')
  if (first === undefined) throw new WrongWords('--cards: the file has no card number')
  return [first, ...others]
}

function readGivenScenario({ scenario, seed, count }: Words, cards: number): Scenario {
  if ((scenario === undefined) === (seed === undefined))
    throw new WrongWords('give either --scenario FILE or --seed N')
  if (scenario !== undefined) return readScenario(readFile('--scenario', scenario), scenario)
  return drawScenario(seed ?? 0, count, cards)
}

const print = (text: string): void => void process.stdout.write(text)

const formatOf = (path: string) => FORMAT_NAMES.find((name) => path.endsWith(`.${name}`))

function openFile(path: string, { env }: Words, start: number): ClearingFile {
  const format = formatOf(path)
  if (!format)
    throw new WrongWords(
      `--clearing-file: the name must end with ${FORMAT_NAMES.map((name) => `.${name}`).join(' or ')}`,
    )
  const business_date = new Date(start).toISOString().slice(0, 10)
  return openClearingFile(path, format, {
    file_id: `sim-${start}`,
    network: SIMULATOR,
    business_date,
    environment: env,
  })
}

/** Runs the scenario; sets the exit code. */
async function play(
  words: Words,
  door: DoorSettings,
  cards: readonly [string, ...string[]],
  more: Pick<RunOptions, 'dispute'> = {},
): Promise<void> {
  const scenario = readGivenScenario(words, cards.length)
  const start = words.start ?? Date.now()
  const file = words.clearingFile === undefined ? undefined : openFile(words.clearingFile, words, start)
  const settled: FiledMessage[] = []
  const link = openDoor(door)
  let count = 0
  try {
    const tally = await runScenario(planScenario(scenario, cards, start), link, {
      ...more,
      ...(words.rate !== undefined && { rate: words.rate }),
      ...(file && { file: file.add }),
      settle: (sent) => void settled.push(sent),
      patienceMs: words.patience * 1000,
      report: (happening) => {
        count += 1
        print(words.json ? happeningJson(happening) : happeningWords(count, happening))
      },
    })
    const written = file?.close()
    if (words.settlementReport !== undefined) {
      const rows = settle(words.env, readSettings(process.env).rates, settled)
      writeFileSync(words.settlementReport, `${JSON.stringify({ rows }, null, 2)}\n`)
    }
    print(
      words.json
        ? `${JSON.stringify({ summary: { ...tally, ...written } })}\n`
        : summaryWords(tally, written),
    )
    if (!isSound(tally)) process.exitCode = FAILED
  } finally {
    link.close()
  }
}

async function run(words: Words): Promise<void> {
  const { answerMs } = words
  // A wrong scenario changes nothing.
  readGivenScenario(words, 1)
  if (!words.dev) {
    if (words.url === undefined) throw new WrongWords('--url is missing: give it, or use --dev')
    const door = {
      url: words.url.replace(/\/+$/, ''),
      cert: readFile('--cert', words.cert),
      key: readFile('--key', words.key),
      ca: readFile('--ca', words.ca),
      signingKey: readFile('--signing-key', words.signingKey).trim(),
      answerMs,
    }
    return play(words, door, readCards(words.cards))
  }
  const settings = readSettings(process.env)
  await operate(ofProcess(), async (operator, _production, _room, database) => {
    const access = await setUpAccess(operator, settings, words.env)
    const tenant = await openDemoTenant(operator, database, words.env)
    try {
      const door = { ...access, ...(words.url !== undefined && { url: words.url }), answerMs }
      const cards = words.cards === undefined ? tenant.cards : readCards(words.cards)
      await play(words, door, cards, {
        dispute: disputeAs(tenant.client, operator.control, words.env, tenant.space),
      })
    } finally {
      await tenant.end()
    }
  })
}

async function main(given: readonly string[]): Promise<void> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`)
  const misuse = createMisuse(given, say)
  try {
    await createCommand(run, misuse.say).parseAsync(given, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : misuse.report(error, MISUSED)
      return
    }
    const isMisused = [WrongWords, ScenarioError, SettingsError].some((type) => error instanceof type)
    const type = error instanceof ControlError ? error.kind : isMisused ? 'invalid' : 'failed'
    say(wantsJson(given) ? errorJson({ type, message: messageOf(error) }) : `error: ${messageOf(error)}`)
    process.exitCode = isMisused || type === 'invalid' ? MISUSED : FAILED
  }
}

await main(process.argv.slice(2))
