/**
 * `npm run network` and a service of its own. Then networks that send messages through the door while the service is killed
 * at random moments and started again: in the end they and the service know the same. `npm run prove:network-kills` takes 30
 * rounds.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { current } from '../../../generated/versions.ts'
import { openDoor } from '../../../runtime/cards/network-simulator/door.ts'
import {
  isLiveSimulator,
  SIMULATOR,
  SIMULATOR_ORGANIZATION,
  SIMULATOR_WARNING,
} from '../../../runtime/cards/network-simulator/identity.ts'
import { planScenario } from '../../../runtime/cards/network-simulator/plan.ts'
import {
  type Happening,
  isSound,
  runScenario,
} from '../../../runtime/cards/network-simulator/run-scenario.ts'
import { drawScenario } from '../../../runtime/cards/network-simulator/scenario.ts'
import { verifyLedger } from '../../../runtime/operator/ledger.ts'
import { type SimulatorAccess, setUpAccess } from '../../../runtime/operator/network-simulator.ts'
import { createRandom } from '../../../runtime/platform/random.ts'
import { readSettings } from '../../../runtime/platform/settings.ts'
import { createKey } from '../../../runtime/tenants/admin/keys.ts'
import { createTenant } from '../../../runtime/tenants/admin/tenants.ts'
import { openTestDatabase, type TestDatabase } from '../../support/database.ts'
import { freePort } from '../../support/ports.ts'
import {
  endPrograms,
  type Program,
  runAdmin,
  startProgram,
  startService,
  until,
} from '../../support/programs.ts'
import { speak } from '../../support/service.ts'
import { make } from '../fixtures.ts'
import { bookOf, expectSameBooks } from './books.ts'

const ROUNDS = Number(process.env.NETWORK_KILL_ROUNDS ?? 1)
const SEED = process.env.NETWORK_KILL_SEED ?? randomBytes(4).toString('hex')
/** Networks that send at the same time, each for a card of its own. */
const SENDERS = 4
/** Card uses of a sender in a round. */
const USES = ROUNDS > 1 ? 25 : 8

const directory = mkdtempSync(join(tmpdir(), 'svc-network-'))
const random = createRandom(SEED)
let database: TestDatabase
let env: Readonly<Record<string, string>>
let program: Program
let access: SimulatorAccess
let tenantId: string
let ready: Awaited<ReturnType<Program['ready']>>
let cards: readonly string[]

/** Starts the service on its ports. */
async function start() {
  program = startService(env, ['--json', '--demo'])
  return program.ready()
}

beforeAll(async () => {
  const [opened, port, sandbox] = await Promise.all([openTestDatabase(), freePort(), freePort()])
  database = opened
  const ports = {
    NETWORK_PORT: `${port}`,
    SANDBOX_PORT: `${sandbox}`,
    DATA_DIR: directory,
    SVC_NETWORK_SIMULATOR: 'on',
  }
  env = { ...ports, DATABASE_URL: database.url, SVC_PEPPER: database.pepper }
  const { operator } = database
  access = await setUpAccess(operator, readSettings(ports), 'sandbox')
  tenantId = (await createTenant(operator, { name: 'Killed', plan: 'enterprise' }, current)).id
  const { secret } = await createKey(operator, { tenantId, environment: 'sandbox', scope: 'admin' })
  ready = await start()
  const send = speak(String(ready.sandbox_base_url), { secret })
  await send('/v1/test/funding', { body: { amount: 100_000_000_000 } })
  const cardholder_id = (await make(send, '/v1/cardholders', { name: 'Ada Moreau' })).id
  const numbers: string[] = []
  for (let n = 0; n < SENDERS; n += 1) {
    const { id } = await make(send, '/v1/cards', { cardholder_id, type: 'virtual' })
    numbers.push((await send(`/v1/cards/${id}/details`)).body.number)
  }
  cards = numbers
}, 120_000)
afterAll(async () => {
  await endPrograms()
  await database.close()
  rmSync(directory, { recursive: true })
})

/** Runs `npm run network`. */
const runNetwork = (...words: readonly string[]) =>
  startProgram(process.execPath, ['runtime/operator/command/network.ts', ...words], env).ended

test('the simulator plays a scenario file with the demo tenant’s cards, and says what it did', async () => {
  const scenario = join(directory, 'scenario.json')
  const [, example = ''] = /```json\n([^`]*)```/.exec(readFileSync('docs/network-simulator.md', 'utf8')) ?? []
  writeFileSync(scenario, example)
  const { code, stdout, stderr } = await runNetwork('--dev', '--scenario', scenario)
  expect([code, stderr, stdout]).toEqual([0, '', stdout])
  expect(stdout).toMatch(/authorize +…\d{4} +42\.00 +Harbor Diner +approved/)
  expect(stdout).toMatch(/moveChargeback +…\d{4} +lost +applied/)
  expect(stdout).not.toMatch(/\d{12}/)
})

test('live takes simulated messages and files if it is told to, reconciles them, and shows a notice on every page', async () => {
  const [file, report] = [join(directory, 'clearings.csv'), join(directory, 'report.json')]
  const start = new Date().toISOString()
  const written = ['--start', start, '--clearing-file', file, '--settlement-report', report]
  const played = ['--dev', '--env', 'live', '--seed', '1', '--count', '8', '--json']
  const { code, stdout } = await runNetwork(...played, ...written)
  const summary = { refused: 0, contradicted: 0, unacknowledged: 0, exceptions: 0 }
  expect([code, JSON.parse(stdout.trim().split('\n').at(-1)!)]).toMatchObject([0, { summary }])
  const imported = await runAdmin(env, 'network', 'import', file, '--json')
  expect([imported.code, JSON.parse(imported.stdout)]).toMatchObject([
    0,
    { status: 'imported', exceptions: 0 },
  ])
  const compared = ['--env', 'live', '--date', start.slice(0, 10), '--report', report, '--json']
  const reconciled = await runAdmin(env, 'network', 'reconcile', ...compared)
  expect([reconciled.code, reconciled.stderr, JSON.parse(reconciled.stdout)]).toMatchObject([
    0,
    '',
    { compared: 1, differences: [] },
  ])
  await verifyLedger(database.operator, String(ready.tenant_id))
  expect(ready.warnings).toEqual([SIMULATOR_WARNING])
  const page = await (await fetch(`${ready.console_url}/sign-in`)).text()
  expect(page).toContain(`<aside class="notice warn"><p>${SIMULATOR_WARNING}.</p></aside>`)
  const words = ['runtime/operator/command/network.ts', '--dev', '--env', 'live', '--seed', '1', '--json']
  const { SVC_NETWORK_SIMULATOR: _, ...without } = env
  const refused = await startProgram(process.execPath, words, without).ended
  expect([refused.code, JSON.parse(refused.stderr).error.message]).toEqual([
    2,
    expect.stringContaining('set SVC_NETWORK_SIMULATOR=1 for this command and for the service'),
  ])
  expect(() => readSettings({ ...env, NODE_ENV: 'production' })).toThrow(
    /SVC_NETWORK_SIMULATOR: is not allowed/,
  )
  // A service without the setting does not know the certificate of the simulator.
  const certificate = {
    environment: 'live',
    subject: `CN=${SIMULATOR}, O=${SIMULATOR_ORGANIZATION}`,
  } as const
  expect([isLiveSimulator(certificate), isLiveSimulator({ ...certificate, environment: 'sandbox' })]).toEqual(
    [true, false],
  )
})

/** Sends a scenario of its own until all of it is acknowledged. */
async function send(card: string, seed: number, happenings: Happening[]): Promise<void> {
  const link = openDoor({ ...access, answerMs: 3000 })
  const drawn = drawScenario(seed, USES, 1)
  // Merchants collect later, so holds stay.
  const open = { clearings: [], refunds: [], chargeback: [] }
  const uses = drawn.uses.map((use, index) => (index % 3 === 0 ? { ...use, ...open } : use))
  const plan = planScenario({ ...drawn, uses }, [card], Date.now())
  const tally = await runScenario(plan, link, {
    patienceMs: 60_000,
    rate: 60,
    report: (happening) => void happenings.push(happening),
  })
  link.close()
  expect([seed, isSound(tally), tally]).toEqual([seed, true, tally])
}

const sendAll = (happenings: Happening[]) =>
  Promise.all(cards.map((card) => send(card, random.between(0, 1_000_000_000), happenings)))

test(`the service survives ${ROUNDS} kills with everything that the network approved`, {
  timeout: 120_000 + ROUNDS * 60_000,
}, async () => {
  console.log(`seed ${SEED}`)
  const happenings: Happening[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = happenings.length
    const load = sendAll(happenings)
    const moment = before + random.between(5, SENDERS * USES)
    await until('messages', () => happenings.length > moment || program.child.exitCode !== null, 60_000)
    const { signal } = await program.end('SIGKILL')
    expect(signal).toBe('SIGKILL')
    await start()
    await load
    await sendAll(happenings)
    await expectSameBooks(database, 'sandbox', tenantId, bookOf(happenings))
    await verifyLedger(database.operator, tenantId)
    console.log(`round ${round}: ${happenings.length - before} messages`)
  }
})
