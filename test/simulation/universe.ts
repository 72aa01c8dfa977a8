/** One universe: an installation with its machines, merchants and peers, all from one seed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { current, versions } from '../../generated/versions.ts'
import { openSanctions } from '../../runtime/cards/sanctions/list-in-use.ts'
import { ensureCardRole } from '../../runtime/database/migrate/card-role.ts'
import type { Roles } from '../../runtime/database/migrate/roles.ts'
import { clientConfig } from '../../runtime/database/pool/connection.ts'
import { post } from '../../runtime/money/ledger/post.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { createRandom } from '../../runtime/platform/random.ts'
import { readSettings } from '../../runtime/platform/settings.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { setPin } from '../../runtime/tenants/admin/pins.ts'
import { createTenant, verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { administer, databaseUrl } from '../support/server.ts'
import { type Credential, createClient, type Running } from './client.ts'
import { takeOver } from './globals.ts'
import { checkInvariants } from './invariants.ts'
import { DEADLOCK_MS, openWatch, takeConnections } from './lanes.ts'
import { createMachine, type Machine, runOn } from './machines.ts'
import { liveDay, type Merchant, planDay, readBalances, settleIn } from './merchants.ts'
import { createNetwork, type Peer } from './network.ts'
import { createBank, createReceivers } from './peers.ts'
import { createScheduler, type Scheduler } from './scheduler.ts'
import type { SimulationServer } from './server.ts'
import { BANK_URL, type Installation, openDatabase, startService } from './service.ts'
import { createTimers } from './timers.ts'
import { createWeather, type FaultKind } from './weather.ts'

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

/** 1 June 2026, a Monday: both deprecated versions still work. */
const START = Date.parse('2026-06-01T00:00:00.000Z')
const DAY_MS = 86_400_000

/** A destination for payouts is usable after this. */
const HOLD_MS = 2 * DAY_MS
const PAYABLE = 100_000

/** Steps of a day, for the installation and for each merchant. A quarter is usual. */
const MOST_STEPS = 100_000

async function prepare({ url, template, pepper }: SimulationServer, seed: string) {
  const name = `simulation_${process.pid}_${seed.replaceAll(/\W/g, '_')}`
  await administer(
    url,
    `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
    `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`,
    `ALTER DATABASE ${name} SET deadlock_timeout = '${DEADLOCK_MS}ms'`,
  )
  const place = databaseUrl(url, name)
  const connection = { connectionString: place }
  const cardSignIn = await ensureCardRole({
    ...{ connection, direct: connection, pepper },
    ...{ ownSecret: undefined, previousSecret: undefined, say: () => {} },
  })
  if (!cardSignIn) throw new Error('the simulation cannot open card numbers')
  const drop = () => administer(url, `DROP DATABASE ${name} WITH (FORCE)`)
  return { place, connection, cardSignIn, pepper, drop }
}

/** Lives through the days of the plan. Prints one line for each day. Takes over the clock of this process for good. */
export async function runUniverse(
  server: SimulationServer,
  plan: Plan,
  print: (line: string) => void,
  heard?: (line: string) => void,
): Promise<Outcome> {
  const { seed } = plan
  const prepared = await prepare(server, seed)
  const watch = await openWatch(clientConfig(prepared.connection, 'simulation watch'))
  const { rows } = await watch.db.query<{ environment: keyof Roles; name: string }>({
    text: 'SELECT environment, name FROM control.roles',
  })
  const roles = Object.fromEntries(rows.map(({ environment, name }) => [environment, name])) as Roles
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-simulation-data-'))

  const settings = readSettings({
    SVC_PEPPER: prepared.pepper,
    DATABASE_URL: prepared.place,
    DATA_DIR: dataDir,
    SVC_VERIFY_SECONDS: '0',
  })
  const sanctions = await openSanctions(watch.db, settings.sanctionsList, () => START)

  const timers = createTimers(START)
  const giveBack = [takeOver(timers, seed)]
  const chaos = createRandom(`${seed} faults`)
  giveBack.push(
    takeConnections(() => ({
      now: new Date(timers.now).toISOString(),
      chance: chaos.between(0, 1000) / 1000,
    })),
  )
  const weather = createWeather(createRandom(`${seed} weather`), plan.faults, plan.withoutFaults)
  let machines: Running[] = []
  const scheduler: Scheduler = createScheduler(seed, timers, watch, disturb, heard)
  const bank = createBank(timers, createRandom(`${seed} bank`))
  const receivers = createReceivers((attempt) => attempt < 4 && weather.strikes('error'))
  const peerOf = ({ origin, host }: URL): Peer | undefined =>
    origin === BANK_URL ? bank.answer : receivers.peerOf(host)
  const network = createNetwork(scheduler, createRandom(`${seed} network`), weather, peerOf)
  const log = pino(
    { level: 'warn' },
    { write: (line: string) => scheduler.note(`log: ${withoutIds(messageOf(line))}`) },
  )
  const installation: Installation = {
    ...prepared,
    ...{ roles, settings, log, network, sanctions },
    chains: {
      of: { sandbox: undefined, live: undefined },
      warnings: [],
      start: () => ({ stop: async () => {} }),
    },
    wakeOthers(environment, tenantId) {
      if (weather.strikes('lost')) return
      for (const { machine, service } of machines)
        if (machine.alive) runOn(machine, () => service.wake(environment, tenantId))
    },
  }

  async function disturb(): Promise<void> {
    const chosen = machines[chaos.between(0, machines.length - 1)]
    if (!chosen) return
    if (weather.strikes('death')) {
      scheduler.note(`${chosen.machine.name} dies`)
      machines = machines.filter((each) => each !== chosen)
      await scheduler.kill(chosen.machine, chaos.chance(0.5))
      start(chosen.machine.name, scheduler.sleep(chaos.between(100, 60_000)))
    } else if (weather.strikes('stall')) {
      const ms = chaos.between(1000, 90_000)
      scheduler.note(`${chosen.machine.name} is suspended for ${ms} ms`)
      chosen.machine.stalledUntil = timers.now + ms
    }
  }

  /** Runs work on a machine of its own, which ends with it. */
  const once = async <T>(name: string, work: (machine: Machine) => Promise<T>): Promise<T> => {
    const machine = createMachine(name)
    const value = await scheduler.run(runOn(machine, () => work(machine)))
    await scheduler.kill(machine, false)
    return value
  }

  const start = (name: string, after: Promise<void> = Promise.resolve()) => {
    const begin = async () => {
      await after
      const machine = createMachine(name)
      const service = await runOn(machine, () => startService(installation))
      machines.push({ machine, service })
      scheduler.note(`${name} serves`)
    }
    begin().catch(scheduler.fail)
  }

  let fault: string | undefined
  process.on('unhandledRejection', scheduler.fail)
  try {
    const parts = {
      scheduler,
      random: createRandom(`${seed} clients`),
      weather,
      network,
      machines: () => machines,
    }
    const merchants = await once('setup', async () => {
      const database = openDatabase(installation)
      const operator = { control: database.control, clock: createClock(), pepper: prepared.pepper }
      const made: Merchant[] = []
      for (let index = 0; index < plan.tenants; index += 1) {
        const name = `m${index + 1}`
        const { id: tenantId } = await createTenant(operator, { name, plan: 'enterprise' }, current)
        await verifyTenant(operator, tenantId)
        const version = index % 2 === 0 ? current : '2026-02-01'
        for (const environment of ['sandbox', 'live'] as const)
          await setPin(operator, { tenantId, environment, version }, versions)
        const clientOf = async (environment: Credential['environment']) => {
          const { secret } = await createKey(operator, { tenantId, environment })
          return createClient(parts, { name, environment, secret, version: current })
        }
        const transfer = { from: 'network_clearing', to: 'settlement_payable', amount: PAYABLE } as const
        await database.live.transaction((db) => post(db, tenantId, newId('stl'), { transfer }, timers.now))
        made.push({
          ...{ name, tenantId, payable: PAYABLE, funded: 0, payouts: new Map(), passes: [], transactions: [] },
          live: await clientOf('live'),
          sandbox: await clientOf('sandbox'),
          known: { template: '', bank: '', chain: '', card: '' },
          hosts: { plain: `plain.${name}.invalid`, ordered: `ordered.${name}.invalid` },
          balances: { live: { payable: 0, held: 0, available: 0 }, sandbox: { payable: 0, held: 0, available: 0 } },
        })
      }
      return made
    })
    for (let number = 0; number < plan.machines; number += 1) start(String.fromCharCode(97 + number))
    await scheduler.run(
      (async () => {
        while (machines.length < plan.machines) await scheduler.sleep(1000)
        for (const merchant of merchants) await settleIn(merchant)
        scheduler.maxLateMs = HOLD_MS
        await scheduler.sleep(HOLD_MS)
      })(),
    )
    const days = createRandom(`${seed} days`)
    for (let day = 1; day <= plan.days; day += 1) {
      const first = (day - 1) * merchants.length
      const plans = merchants.map((_, index) =>
        planDay(days, plan.actions).filter(
          (_action, place) => !plan.withoutActions.has((first + index) * plan.actions + place),
        ),
      )
      const end = timers.now + DAY_MS
      weather.isStorm = true
      scheduler.mostSteps = scheduler.steps + MOST_STEPS * (1 + plan.tenants)
      scheduler.maxLateMs = plan.lateMs
      await scheduler.run(
        Promise.all(merchants.map((merchant, index) => liveDay(scheduler, merchant, plans[index]!))),
      )
      weather.isStorm = false
      await scheduler.run(scheduler.sleep(Math.max(0, end - timers.now)))
      await scheduler.run(Promise.all(merchants.map(readBalances)))
      await checkInvariants({ db: watch.db, merchants, payments: bank.payments, receivers, now: timers.now, faults: weather.count })
      const sum = (of: (merchant: Merchant) => number) =>
        merchants.reduce((total, each) => total + of(each), 0)
      print(
        `day ${day}: ${scheduler.steps} steps, ${sum(({ passes }) => passes.length)} passes, ` +
          `${sum(({ payouts }) => payouts.size)} payouts, ${bank.payments.length} payments, ` +
          `${sum(({ transactions }) => transactions.length)} card transactions, ${scheduler.digest()}`,
      )
    }
  } catch (error) {
    fault = withoutIds(error instanceof Error ? error.message : String(error))
  }
  for (const { machine } of machines) await scheduler.kill(machine, false)
  process.off('unhandledRejection', scheduler.fail)
  for (const give of giveBack) give()
  await watch.end()
  await prepared.drop()
  rmSync(dataDir, { recursive: true })
  return { fault, lastLines: scheduler.lastLines, faults: weather.count, digest: scheduler.digest() }
}

/** Identifiers have a counter of the process, which no seed decides. */
const withoutIds = (text: string) => text.replaceAll(/\b([a-z]+)_[0-9a-z]{26}\b/g, '$1_…')

function messageOf(line: string): string {
  const { msg, err } = JSON.parse(line) as {
    readonly msg?: string
    readonly err?: { readonly message?: string }
  }
  return [msg, err?.message].filter(Boolean).join(': ')
}
