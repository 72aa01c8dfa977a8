/**
 * The composition root: creates every part of a process once and passes it on as parameters. `startService` reads in
 * the order in which a process starts; it stops in the reverse order.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from 'pino'
import { current } from '../../generated/versions.ts'
import { SIMULATOR_WARNING } from '../cards/network-simulator/identity.ts'
import { openSanctions, watchSanctions } from '../cards/sanctions/list-in-use.ts'
import { openDatabase } from '../database/open/open-database.ts'
import { watchRevision } from '../database/revision.ts'
import { connectWakeUpChannel, createWakeUps } from '../events/emit/wake-ups.ts'
import { openOutbound } from '../events/outbound/outbound.ts'
import { type Chains, openChains } from '../money/chain/open-chains.ts'
import { usdcChainsOf } from '../money/chain/usdc-chains.ts'
import { openBank } from '../money/payouts/open-bank.ts'
import { startClock } from '../operator/clock.ts'
import { type Demo, ensureDemo, findDemo } from '../operator/demo.ts'
import { createObservability } from '../operator/metrics/observability.ts'
import { createRootKeys } from '../passes/wallets/pages/google/root-keys.ts'
import { checkAppleSigner } from '../passes/wallets/render/apple/open-signer.ts'
import { type Google, openGoogle } from '../passes/wallets/sync/google/open-google.ts'
import { build } from '../platform/build.ts'
import type { Settings } from '../platform/settings.ts'
import { stopInTurn } from '../platform/stopping.ts'
import { type BaseUrls, resolveBaseUrls } from '../tenants/addresses/base-urls.ts'
import type { Operator } from '../tenants/admin/change.ts'
import { type Clock, createClock } from '../tenants/clock/clock.ts'
import { openLimiter } from '../tenants/limits/open-limiter.ts'
import { createUsageMeter, startUsageFlush } from '../tenants/usage/meter.ts'
import { openTracer } from '../tracing/open-tracer.ts'
import { type ApiParts, createApis } from './apis.ts'
import { openRoom } from './card-room.ts'
import { createConsolePages, createMetricsPages } from './console-pages.ts'
import type { Foundation } from './foundation.ts'
import { openNetworkRole } from './network.ts'
import { openPorts } from './ports.ts'
import { startWork } from './work.ts'

export interface RunningService {
  readonly baseUrls: BaseUrls
  /** Origin of the network listener; undefined if this process has none. */
  readonly networkUrl: string | undefined
  /** Port for ISO 8583 messages; undefined if this process has none. */
  readonly isoPort: number | undefined
  /** Origin of METRICS_PORT; undefined if this process does not open it. */
  readonly metricsUrl: string | undefined
  readonly demo: Demo | undefined
  readonly chains: Chains['of']
  readonly warnings: readonly string[]
  readonly operator: Operator
  /**
   * Reads the certificates of the ports again, and uses the database password of these settings for new connections.
   * Throws if one of them cannot be used.
   */
  renew(settings: Settings): void
  /** Stops accepting requests, waits for those in progress and closes the database. */
  stop(): Promise<void>
}

/** Starts the roles of this process. On failure, stops what has started and throws an error that says what to do. */
export async function startService(settings: Settings, log: Logger): Promise<RunningService> {
  const { roles, timeouts } = settings
  const stops: (() => unknown)[] = []
  const stop = () => stopInTurn(stops.splice(0).reverse())
  try {
    const tracer = await openTracer(settings.tracing, {
      failed: (err) =>
        log.warn({ err }, 'Traces cannot be exported; spans are dropped until the receiver responds'),
      resumed: () => log.info('Traces are exported again'),
    })
    stops.push(() => tracer?.stop())
    // Ports open first, so that a port in use is reported immediately. They answer 503 until the APIs and the console
    // are attached.
    const ports = await openPorts(settings)
    stops.push(() => ports.drain(0))

    // The first start of a clone builds the documents while the database is created.
    const served = roles.has('api') || roles.has('console')
    const built = served ? build('documents') : undefined
    built?.catch(() => undefined) // awaited below, unless the database fails first

    const database = await openDatabase(settings, (line) => log.warn(line))
    stops.push(() => database.close())
    const baseUrls = await resolveBaseUrls(database.control, settings, ports.origins)
    const clock = createClock()
    const operator: Operator = { control: database.control, clock, pepper: database.pepper }
    await startClock(operator, settings.clockStart)
    await clock.refresh(database.control) // the demo tenant is created in service time
    const isDemo = settings.databaseUrl === undefined || settings.demo
    const demo = isDemo ? await ensureDemo(operator, current) : await findDemo(operator)

    const outbound = openOutbound(settings)
    stops.push(() => {
      for (const each of Object.values(outbound)) each.close()
    })
    const sanctions = await openSanctions(database.control, settings.sanctionsList, clock.machine, log)
    const listWatch = watchSanctions(sanctions, log)
    stops.push(() => listWatch.stop())
    const chains = await openChains(settings.chain, database.control, log)
    const warnings = [...chains.warnings, ...(settings.networkSimulator ? [SIMULATOR_WARNING] : [])]
    const google = await openGoogle(settings, log)
    stops.push(() => google.close())
    const bank = roles.has('worker') ? await openBank(settings, log) : undefined
    stops.push(() => bank?.close())
    const limits = await openLimiter(settings, database.pepper, log)
    stops.push(() => limits.close())
    const wakeUps = createWakeUps()
    const wakeUpChannel = connectWakeUpChannel(database.control, wakeUps)
    let leaving = false
    const isLeaving = () => leaving
    const foundation: Foundation = {
      settings,
      database,
      clock,
      log,
      tracer,
      baseUrls,
      outbound,
      google,
      bank: bank?.bank,
      sanctions,
      chains,
      wakeUps,
      wakeUpChannel,
      isLeaving,
    }

    const room = await openRoom(foundation)
    stops.push(() => room.stop())
    const work = roles.has('worker') ? startWork(foundation) : undefined
    stops.push(() => work?.stop())
    const usage = createUsageMeter(database, clock)
    const usageFlush = startUsageFlush(usage, log)
    stops.push(() => usageFlush.stop())
    const observability = createObservability({
      ...foundation,
      limiter: limits.state,
      usage,
      deliveries: () => work?.workers ?? {},
      wallets: () => work?.wallets ?? { apple: {}, google: {} },
      work: () => work?.queue ?? [],
    })
    stops.push(() => observability.stop())

    await built
    if (roles.has('api')) checkAppleSigner(settings, log, clock)
    // Console pages also perform operations, even if this process does not serve the APIs.
    const apis =
      roles.has('api') || roles.has('console')
        ? createApis({
            ...foundation,
            google: withRootKeys(google, clock),
            vault: room.vault,
            usdcChains: usdcChainsOf(chains.of),
            limiter: limits.limiter,
            usage,
            observability,
            logsRequests: true,
          })
        : undefined
    stops.push(() => apis?.stop())
    const consolePages =
      apis && roles.has('console')
        ? createConsolePages(
            { ...foundation, operator, apis, limiter: limits.limiter, warnings },
            observability,
          )
        : undefined
    const network = roles.has('network') ? await openNetworkRole(foundation, room, observability) : undefined
    stops.push(() => network?.iso?.drain(0))
    const revision = await watchRevision(database.control, async () => {
      await clock.refresh(database.control)
      apis?.forget()
      await network?.refresh()
    })
    stops.push(() => revision.stop())
    // Reads changes from before the watch.
    await clock.refresh(database.control)
    await network?.refresh()

    ports.attach({
      ...(roles.has('api') && apis?.listeners),
      ...(consolePages && { console: consolePages }),
      ...(network && { network: network.listener }),
      ...(room.listener && { reveal: room.listener }),
      metrics: createMetricsPages(observability),
    })
    stops.push(async () => {
      leaving = true
      await wait(timeouts.leaveMs)
      await Promise.all([ports.drain(timeouts.drainMs), network?.iso?.drain(timeouts.drainMs)])
    })
    const networkUrl = ports.origins.network
    const isoPort = network?.iso?.port
    const renew = (next: Settings) => {
      database.renew(next)
      ports.renewCertificates()
      network?.iso?.renewCertificate()
      observability.renewCertificates()
    }
    const metricsUrl = ports.origins.metrics
    return {
      ...{ baseUrls, networkUrl, isoPort, metricsUrl, demo, chains: chains.of },
      ...{ warnings, operator, renew, stop },
    }
  } catch (error) {
    await stop().catch((err) => log.warn({ err }, 'not everything that had started was stopped'))
    throw error
  }
}

function withRootKeys({ signer, outbound, urls }: Google, { machine }: Clock): ApiParts['google'] {
  return { signer, rootKeys: urls && createRootKeys({ url: urls.keys, outbound, now: machine }) }
}
