/** One universe: an installation with its machines, merchants and peers, all from one seed. */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { ENVIRONMENTS } from '../../runtime/platform/environment.ts'
import { createRandom } from '../../runtime/platform/random.ts'
import { agePayment, decideHeldUp, holdPayouts, moveDestinations } from './chain/decisions.ts'
import { NODE_URL } from './chain/node.ts'
import { chainSettingsAreChecked } from './chain/operator.ts'
import type { DeliveryStats, LogLine, WorkerTurns } from './checks/evidence.ts'
import { leasesAreFree } from './checks/leases.ts'
import { WARN } from './checks/logs.ts'
import { MOMENTS, momentIsRight } from './checks/moments.ts'
import { restIsQuiet } from './checks/rest.ts'
import { writeOldRows } from './checks/retention.ts'
import type { ClientParts } from './client.ts'
import { takeOver } from './clockwork/globals.ts'
import { takeConnections } from './clockwork/lanes.ts'
import { runOn } from './clockwork/machines.ts'
import { takeOutside } from './clockwork/outside.ts'
import { createScheduler, type Scheduler } from './clockwork/scheduler.ts'
import { createTimers, type Timers } from './clockwork/timers.ts'
import { liveDay, planDay } from './day.ts'
import { createFleet, type Fleet } from './fleet.ts'
import { checkInvariants } from './invariants.ts'
import type { Merchant } from './merchant.ts'
import { createNetwork } from './network.ts'
import { type Prepared, prepare } from './prepared.ts'
import type { SimulationServer } from './server.ts'
import { type Installation, openDatabase, startService } from './service.ts'
import { KEY_AGES_MS, readState, repeatEve, sendOnTheEve, settleIn } from './settle-in.ts'
import { makeMerchant, nameOf, operatorOf } from './tenants.ts'
import { createWeather, type FaultKind, SKEW_MS, type Weather } from './weather.ts'
import { createWorld, type World } from './world.ts'

/** What a run is made of. A smaller one is a simpler story of the same fault. */
export interface Plan {
  readonly seed: string
  readonly days: number
  readonly tenants: number
  /** Processes of the service. */
  readonly machines: number
  /** How late polls are at most if nothing is under way, in milliseconds. */
  readonly lateMs: number
  /** Actions of each merchant in a day. */
  readonly actions: number
  /** Names of the actions that merchants do. */
  readonly kinds: readonly string[]
  /** Kinds of faults that happen. */
  readonly faults: readonly FaultKind[]
  /** Numbers of faults and of actions that are left out. */
  readonly withoutFaults: ReadonlySet<number>
  readonly withoutActions: ReadonlySet<number>
}

export interface Outcome {
  /** What was wrong; undefined if nothing was. */
  readonly fault: string | undefined
  readonly lastLines: readonly string[]
  /** Number of faults that happened. */
  readonly faults: number
  /** Hash of everything that happened. */
  readonly digest: string
}

/** Receives a line. */
type Print = (line: string) => void

interface Universe {
  readonly prepared: Prepared
  readonly scheduler: Scheduler
  readonly fleet: Fleet
  readonly weather: Weather
  readonly world: World
  readonly clients: ClientParts
  readonly installation: Installation
  readonly logs: readonly LogLine[]
  readonly random: (what: string) => ReturnType<typeof createRandom>
}

/** 1 June 2026, a Monday: both deprecated versions still work. */
const START = Date.parse('2026-06-01T00:00:00.000Z')
const DAY_MS = 86_400_000

/** Longer than a new destination is on hold. */
const HOLD_MS = 2 * DAY_MS

/** How long before the end of a day an operator decides payouts that are held up: once more what was signed late. */
const DECIDED_BEFORE_MS = [6 * 3_600_000, 2 * 3_600_000]

/** Steps of a day, for the installation and for each merchant. A quarter is usual. */
const MOST_STEPS = 100_000

function create(prepared: Prepared, plan: Plan, timers: Timers, heard: Print | undefined): Universe {
  const random = (what: string) => createRandom(`${plan.seed} ${what}`)
  const weather = createWeather(random('weather'), plan.faults, plan.withoutFaults)
  const fleet = createFleet(
    () => scheduler,
    random('fleet'),
    weather,
    () => startService(installation),
    (machine) => leasesAreFree(prepared.watch.db, machine, timers.now),
  )
  const scheduler = createScheduler(plan.seed, timers, prepared.watch, fleet, heard)
  const { settings, sanctions } = prepared
  const names = Array.from({ length: plan.tenants }, (_, index) => nameOf(index))
  const logs: LogLine[] = []
  const clients: ClientParts = {
    ...{ scheduler, random: random('clients'), weather, machines: fleet.running },
    network: { latency: () => installation.network.latency() },
  }
  const parts = { settings, sanctions, names, scheduler, weather, random }
  const world = createWorld({ ...parts, clients: () => clients })
  const installation: Installation = {
    ...prepared,
    sanctions: world.wallets.sanctions,
    log: pino(
      { level: 'info' },
      {
        write(line: string) {
          const text = withoutIds(messageOf(line))
          const { level, payout_id: payout } = JSON.parse(line) as {
            readonly level: number
            readonly payout_id?: string
          }
          logs.push({ level, text, payout, at: timers.now })
          if (level >= WARN) scheduler.note(`log: ${text}`)
        },
      },
    ),
    network: createNetwork(
      scheduler,
      random('network'),
      weather,
      world.peerOf,
      ({ origin }) => origin === NODE_URL,
    ),
    wakeOthers(environment, tenantId) {
      if (weather.strikes('lost')) return
      for (const { machine, service } of fleet.running())
        runOn(machine, () => service.wake(environment, tenantId))
    },
  }
  return { prepared, scheduler, fleet, weather, world, clients, installation, random, logs }
}

/** Starts the machines, and creates the merchants with what they need. */
async function begin(universe: Universe, plan: Plan): Promise<readonly Merchant[]> {
  const { scheduler, fleet, clients, world, installation } = universe
  const merchants = await fleet.once('setup', async () => {
    const database = openDatabase(installation)
    const made: Merchant[] = []
    for (let index = 0; index < plan.tenants; index += 1)
      made.push(await makeMerchant(database, clients, world, index, plan.faults.length === 0))
    return made
  })
  for (let number = 0; number < plan.machines; number += 1)
    fleet.start(String.fromCharCode('a'.charCodeAt(0) + number))
  const settle = async () => {
    while (fleet.running().length < plan.machines) await scheduler.sleep(1000)
    for (const merchant of merchants) await settleIn(merchant)
    for (const { tenantId, known, name } of merchants)
      await fleet.beside('operator', () =>
        moveDestinations(openDatabase(installation).control, tenantId, name, known),
      )
    scheduler.maxLateMs = HOLD_MS
    const start = scheduler.timers.now + HOLD_MS
    const keys = merchants.map((merchant) => ({ merchant, forgotten: randomUUID(), kept: randomUUID() }))
    for (const age of ['forgotten', 'kept'] as const) {
      await scheduler.sleep(start - KEY_AGES_MS[age] - scheduler.timers.now)
      for (const { merchant, ...own } of keys) await sendOnTheEve(merchant, own[age])
    }
    await scheduler.sleep(start - scheduler.timers.now)
    for (const { merchant, forgotten, kept } of keys) await repeatEve(merchant, forgotten, kept)
  }
  await scheduler.run(settle())
  return merchants
}

/** How long machines are watched at rest, and how late their polls are then. */
const REST = { ms: 120_000, lateMs: 2000 }

/** Lets late polls run, and what follows from them. */
async function letPollsRun(scheduler: Scheduler): Promise<void> {
  for (let left = 8; left > 0; left -= 1) await scheduler.run(scheduler.sleep(15_000))
}

/** How often merchants read what they have, until nothing changes meanwhile. */
const MOST_READINGS = 10

/** Lets all merchants read what they have at one moment: again, if a late poll changed something meanwhile. */
async function readAtRest({ scheduler, prepared }: Universe, merchants: readonly Merchant[]): Promise<void> {
  const state = async () => (await prepared.watch.db.query<{ state: string }>(STATE)).rows[0]!.state
  for (let left = MOST_READINGS; left > 0; left -= 1) {
    const before = await state()
    await scheduler.run(Promise.all(merchants.map(readState)))
    if ((await state()) === before) return
  }
  throw new Error('the end of the day does not come to rest')
}

/** Watches what machines do while nothing is due. */
async function watchRest({ scheduler }: Universe): Promise<void> {
  const { maxLateMs, answered } = scheduler
  scheduler.maxLateMs = REST.lateMs
  answered.clear()
  await scheduler.run(scheduler.sleep(REST.ms))
  restIsQuiet(answered)
  scheduler.maxLateMs = maxLateMs
}

/** What differs after any change that merchants can read: a confirmation changes a payout, and no event tells of it. */
const STATE = {
  text: `SELECT concat_ws(' ', ${ENVIRONMENTS.flatMap((schema) => [
    `(SELECT count(*) FROM ${schema}.events)`,
    `(SELECT count(*) FROM ${schema}.ledger_entries)`,
    `(SELECT max(updated) FROM ${schema}.payouts)`,
  ]).join(', ')}) AS state`,
}

/** Looks at moments of a day, beside everything that happens. */
async function lookOn({ scheduler, fleet, installation }: Universe): Promise<void> {
  const began = scheduler.timers.now
  for (const moment of MOMENTS) {
    await scheduler.sleep(began + moment - scheduler.timers.now)
    await fleet.beside('watcher', () => momentIsRight(openDatabase(installation).control))
  }
}

/** Lives through a day: a storm while the merchants are busy, and a calm night in which everything comes to rest. */
async function live(
  universe: Universe,
  plan: Plan,
  merchants: readonly Merchant[],
  day: number,
): Promise<void> {
  const { scheduler, weather, prepared, world, random, logs, fleet, installation } = universe
  const end = scheduler.timers.now + DAY_MS
  const ofDay = random(`day ${day}`)
  const days = merchants.map((merchant, index) => {
    const first = ((day - 1) * merchants.length + index) * plan.actions
    const actions = planDay(ofDay, plan.actions, plan.kinds).filter(
      (_, place) => !plan.withoutActions.has(first + place),
    )
    return { merchant, actions }
  })
  scheduler.mostSteps = scheduler.steps + MOST_STEPS * (1 + plan.tenants)
  scheduler.maxLateMs = plan.lateMs
  weather.isStorm = true
  const isCalm = plan.faults.length === 0
  const operate = (text: string) =>
    fleet.beside('operator', () => openDatabase(installation).control.query({ text }))
  await scheduler.run(
    Promise.all([
      ...days.map(({ merchant, actions }) => liveDay(scheduler, merchant, actions)),
      ...(isCalm ? [holdPayouts(scheduler, operate), agePayment(scheduler, operate)] : []),
      lookOn(universe),
    ]),
  )
  weather.isStorm = false
  for (const before of DECIDED_BEFORE_MS) {
    await scheduler.run(scheduler.sleep(Math.max(0, end - before - scheduler.timers.now)))
    await letPollsRun(scheduler)
    await fleet.once('operator', () => decideHeldUp(operatorOf(openDatabase(installation)), world.blocks))
  }
  await scheduler.run(scheduler.sleep(Math.max(0, end - scheduler.timers.now)))
  // What is due a day after the first actions is done, too, before merchants read their state.
  await letPollsRun(scheduler)
  if (isCalm && day === 1)
    await fleet.once('operator', () =>
      chainSettingsAreChecked(installation.settings.chain, openDatabase(installation).control),
    )
  if (isCalm) await watchRest(universe)
  await readAtRest(universe, merchants)
  const { payments } = world.bank
  const { now } = scheduler.timers
  await checkInvariants({
    ...{
      ...world,
      logs,
      db: prepared.watch.db,
      merchants,
      payments,
      now,
      lateMs: plan.lateMs,
      skewMs: weather.includes('skew') ? 2 * SKEW_MS : 0,
      faults: weather.count,
      crashes: weather.countOf('crash'),
      started: START,
      stats: statsOf(fleet),
      turns: turnsOf(fleet),
    },
  })
}

/** What the only machine has counted. */
function statsOf(fleet: Fleet): DeliveryStats | undefined {
  const [one, ...more] = fleet.running()
  if (!one || more.length > 0) return undefined
  const { sandbox, live } = one.service.workers
  return { sandbox: sandbox.stats(), live: live.stats() }
}

/** How the turns of each worker of the only machine ended. */
function turnsOf(fleet: Fleet): WorkerTurns | undefined {
  const [one, ...more] = fleet.running()
  if (!one || more.length > 0) return undefined
  return Object.fromEntries(one.service.queue.map((worker) => [worker.name, worker.stats()]))
}

function describe({ scheduler, world }: Universe, merchants: readonly Merchant[], day: number): string {
  const sum = (of: (merchant: Merchant) => number) => merchants.reduce((total, each) => total + of(each), 0)
  const counts = {
    steps: scheduler.steps,
    passes: sum(({ passes }) => passes.length),
    payouts: sum(({ payouts }) => payouts.size),
    payments: world.bank.payments.length,
    'USDC payments': world.blocks.mined.filter(({ isPaid }) => isPaid).length,
    'passes on devices': sum(({ devices }) => devices.reduce((total, { passes }) => total + passes.size, 0)),
    authorizations: world.authorizers.answers.size,
    'card transactions': sum(({ transactions }) => transactions.length),
  }
  const told = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  return `day ${day}: ${told.join(', ')}, ${scheduler.digest()}`
}

/**
 * Lives through the days of the plan, and prints one line for each. Takes over the clock of this process until the end.
 *
 * @param heard called with each step.
 */
export async function runUniverse(
  server: SimulationServer,
  plan: Plan,
  print: Print,
  heard?: Print,
): Promise<Outcome> {
  const prepared = await prepare(server, plan.seed, START)
  if (plan.faults.includes('crash')) await prepared.watch.suspendLogWriter()
  const timers = createTimers(START)
  const chances = createRandom(`${plan.seed} chances`)
  const impurities = () => ({
    now: new Date(timers.now).toISOString(),
    chance: chances.between(0, 1000) / 1000,
  })
  const giveBack = [takeOver(timers, plan.seed), takeConnections(impurities)]
  await writeOldRows(prepared.watch.db, START)
  const universe = create(prepared, plan, timers, heard)
  const { scheduler, fleet, weather } = universe
  giveBack.push(takeOutside(universe.installation.network.outbound))
  process.on('unhandledRejection', scheduler.fail)
  let fault: string | undefined
  try {
    const merchants = await begin(universe, plan)
    for (let day = 1; day <= plan.days; day += 1) {
      await live(universe, plan, merchants, day)
      print(describe(universe, merchants, day))
    }
  } catch (error) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    scheduler.note(withoutIds(`${stack}`))
    fault = withoutIds(message)
  }
  await fleet.stop()
  process.off('unhandledRejection', scheduler.fail)
  for (const give of giveBack) give()
  await prepared.remove()
  return { fault, lastLines: scheduler.lastLines, faults: weather.count, digest: scheduler.digest() }
}

/** Identifiers have a counter of the process, which no seed decides. */
const withoutIds = (text: string) =>
  text.replaceAll(/\b([a-z]+)_[0-9a-z]{26}\b/g, '$1_…').replaceAll(/\b0x[0-9a-f]{64}\b/g, '0x…')

function messageOf(line: string): string {
  const { msg, err } = JSON.parse(line) as {
    readonly msg?: string
    readonly err?: { readonly message?: string }
  }
  return [msg, err?.message].filter(Boolean).join(': ')
}
