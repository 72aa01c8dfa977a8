/**
 * The composition root: what a process is made of is made here, once, and handed on as parameters. `startService` reads as
 * the order in which a process starts; it stops in the reverse order.
 */
import type { RequestListener } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ensureBuilt } from 'dateline/build'
import express from 'express'
import type { Logger } from 'pino'
import { current, versions } from '../../generated/versions.ts'
import type { Operator } from '../admin/change.ts'
import { startClock } from '../admin/clock.ts'
import { type Demo, ensureDemo, findDemo } from '../admin/demo.ts'
import { readPin } from '../admin/pins.ts'
import { refuse } from '../api/answer.ts'
import type { Service } from '../api/exchange.ts'
import { type ContractGuard, createLoggedGuard } from '../api/guard/contract-guard.ts'
import type { UsdcChain } from '../api/handler.ts'
import { createApiListener } from '../api/listener.ts'
import { createOperate, type Operate } from '../api/operate.ts'
import { createRequestLog, type RequestLog } from '../api/request-log.ts'
import { createVersions } from '../api/routing.ts'
import { type Chains, openChains } from '../chain/open-chains.ts'
import { createAuthorization } from '../console/authorization/authorization.ts'
import { createChallenges } from '../console/challenges.ts'
import { createConsole } from '../console/console.ts'
import { createDashboard } from '../console/dashboard/dashboard.ts'
import { createSessions } from '../console/sign-in/sessions.ts'
import { createSignIn } from '../console/sign-in/sign-in.ts'
import { createJoin } from '../console/team/join.ts'
import { type Delivery, openDelivery } from '../delivery/open-delivery.ts'
import { startRetentionJob } from '../delivery/retention-job.ts'
import { createEventStreams, type EventStreams } from '../events/streams.ts'
import { connectWakeUpChannel, createWakeUps, type WakeUpChannel, type WakeUps } from '../events/wake-ups.ts'
import { appleServiceRoute } from '../holders/apple-service.ts'
import { createBarcodes } from '../holders/barcodes.ts'
import { createChangeTags } from '../holders/change-tags.ts'
import { createRootKeys, type RootKeys } from '../holders/google/root-keys.ts'
import { GOOGLE_PREFIX, googleRoute } from '../holders/google/route.ts'
import { createHolders, firstOf } from '../holders/holders.ts'
import { createPassFiles, passFileRoute } from '../holders/pass-files.ts'
import { passPageRoute } from '../holders/pass-pages.ts'
import { reportFileRoute } from '../holders/report-files.ts'
import { createObservability, type Observability } from '../observability/observability.ts'
import { databasesAnswer } from '../observability/readiness.ts'
import type { WalletSources } from '../observability/wallet-metrics.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { openOutbound } from '../outbound/outbound.ts'
import { type BaseUrls, resolveBaseUrls } from '../platform/addresses/base-urls.ts'
import { openReportLinks } from '../platform/addresses/report-links.ts'
import { createCardKeys } from '../platform/card-keys/card-keys.ts'
import { startResealJob } from '../platform/card-keys/rotation.ts'
import { readTrust } from '../platform/client-address.ts'
import { type Clock, createClock } from '../platform/clock/clock.ts'
import { type OpenDatabase, openDatabase } from '../platform/database/open/open-database.ts'
import { watchRevision } from '../platform/database/revision.ts'
import type { Environment } from '../platform/environment.ts'
import { createFactors } from '../platform/factors/factors.ts'
import { createWrongCodes } from '../platform/factors/wrong-codes.ts'
import { createPresence } from '../platform/fairness/presence.ts'
import { createTurns } from '../platform/fairness/turns.ts'
import { createKeyring } from '../platform/keys/keyring.ts'
import { createTenantNames } from '../platform/keys/tenant-names.ts'
import type { RequestLimiter } from '../platform/limits/limiter.ts'
import { openLimiter } from '../platform/limits/open-limiter.ts'
import { createSeals, deriveSecret } from '../platform/secrets.ts'
import type { Settings } from '../platform/settings.ts'
import { createUsageMeter, startUsageFlush, type UsageMeter } from '../platform/usage/meter.ts'
import { createAccountChanges } from '../resources/account/changes.ts'
import { startWipeJob } from '../resources/account/wipe-job.ts'
import { startAbandonedJob } from '../resources/authorization-decisions/abandoned-job.ts'
import { startHoldExpiryJob } from '../resources/card-transactions/expiry-job.ts'
import { startScreeningJob } from '../resources/cardholders/screening-job.ts'
import { startDisputeExpiryJob } from '../resources/disputes/expiry-job.ts'
import { startExpiryJob } from '../resources/passes/expiry-job.ts'
import { createDevices } from '../resources/passes/registrations.ts'
import { startActivationJob } from '../resources/payout-destinations/activation-job.ts'
import { startDestinationScreeningJob } from '../resources/payout-destinations/screening-job.ts'
import type { Bank } from '../resources/payouts/bank-client.ts'
import { startBankJob } from '../resources/payouts/bank-job.ts'
import { openTransferListener } from '../resources/payouts/transfer-listener.ts'
import { startStandInJob } from '../resources/provisioning-payloads/stand-in-job.ts'
import { startSettlementJob } from '../resources/settlements/job.ts'
import { startReportJob } from '../resources/treasury-reports/job.ts'
import { createEndpointSecrets } from '../resources/webhook-endpoints/secrets.ts'
import { openSanctions, type Sanctions, watchSanctions } from '../sanctions/list-in-use.ts'
import { createWallet, type GoogleSigner } from '../wallet/google/signer.ts'
import { openPassTokens } from '../wallet/pass-tokens.ts'
import { createCardEncryption } from '../wallet/pay/encryption.ts'
import { openPayTrust } from '../wallet/pay/trust.ts'
import { openPushes } from '../wallet-updates/apple/open-pushes.ts'
import { openFollowers } from '../wallet-updates/google/open-followers.ts'
import { checkAppleSigner, openApple } from './apple.ts'
import { openBank } from './bank.ts'
import { startCleanupJob } from './cleanup-job.ts'
import { type Google, openGoogle } from './google.ts'
import { handlers } from './handlers.ts'
import { openPorts } from './ports.ts'
import { USDC_CHAINS, usdcChainsOf } from './usdc-chains.ts'

/** What every part of a process may be given. */
interface Foundation {
  readonly settings: Settings
  readonly database: OpenDatabase
  readonly clock: Clock
  readonly log: Logger
  readonly baseUrls: BaseUrls
  /** The way out to tenants' addresses. */
  readonly outbound: Readonly<Record<Environment, Outbound>>
  readonly google: Google
  /** Absent where nobody pays dollars out. */
  readonly bank: Bank | undefined
  readonly sanctions: Sanctions
  /** Which chain payouts are made on. */
  readonly chains: Chains
  /** Within this process, and to the others. */
  readonly wakeUps: WakeUps
  readonly wakeUpChannel: WakeUpChannel
  /** The process is about to stop: streams end, and nothing more shall be sent to it. */
  readonly isLeaving: () => boolean
}

export interface RunningService {
  readonly baseUrls: BaseUrls
  readonly demo: Demo | undefined
  readonly chains: Chains['of']
  readonly operator: Operator
  /** Stops accepting, lets requests under way finish, lets the database go. */
  stop(): Promise<void>
}

/** Documents and their documentation are served, but not committed: the toolkit's configuration says so. */
const TOOLKIT_CONFIG = fileURLToPath(new URL('../../dateline.config.json', import.meta.url))

/** Starts what the roles of this process serve. Throws an error that says what to do, after stopping what had started. */
export async function startService(settings: Settings, log: Logger): Promise<RunningService> {
  const { roles, timeouts } = settings
  const stops: (() => unknown)[] = []
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each()
  }
  try {
    // Ports come first: one that is taken shows at once. They answer 503 until the APIs and the console are attached.
    const ports = await openPorts(settings)
    stops.push(() => ports.drain(0))

    // The first start of a clone builds them while the database is made.
    const served = roles.has('api') || roles.has('console')
    const built = served ? ensureBuilt(TOOLKIT_CONFIG, ['documents']) : undefined
    built?.catch(() => undefined) // awaited below, unless the database fails first

    const database = await openDatabase(settings, (line) => log.warn(line))
    stops.push(() => database.close())
    const baseUrls = await resolveBaseUrls(database.control, settings, ports.origins)
    const clock = createClock()
    const operator: Operator = { control: database.control, clock, pepper: database.pepper }
    await startClock(operator, settings.clockStart)
    await clock.refresh(database.control) // the demo tenant is made in service time
    const isDemo = settings.databaseUrl === undefined || settings.demo
    const demo = isDemo ? await ensureDemo(operator, current) : await findDemo(operator)

    const outbound = openOutbound(settings)
    stops.push(() => {
      for (const each of Object.values(outbound)) each.close()
    })
    const sanctions = await openSanctions(database.control, settings.sanctionsList, clock.machine)
    const listWatch = watchSanctions(sanctions, log)
    stops.push(() => listWatch.stop())
    const chains = await openChains(settings.chain, database.control, log)
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

    const work = roles.has('worker') ? startWork(foundation) : undefined
    stops.push(() => work?.stop())
    const usage = createUsageMeter(database, clock)
    const usageFlush = startUsageFlush(usage, log)
    stops.push(() => usageFlush.stop())
    const observability = createObservability({
      ...foundation,
      limiter: limits.state,
      deliveries: () => work?.workers ?? {},
      wallets: () => work?.wallets ?? { apple: {}, google: {} },
    })
    stops.push(() => observability.stop())

    await built
    if (roles.has('api')) checkAppleSigner(settings, log, clock)
    const guard = settings.contractGuard ? createLoggedGuard(log) : undefined
    // Pages of the console perform operations too, whether or not this process answers programs.
    const apis =
      roles.has('api') || roles.has('console')
        ? createApis({
            ...foundation,
            google: withRootKeys(google, clock),
            usdcChains: usdcChainsOf(chains.of),
            limiter: limits.limiter,
            guard,
            usage,
            observability,
            logsRequests: true,
          })
        : undefined
    stops.push(() => apis?.stop())
    const consolePages =
      apis && roles.has('console')
        ? createConsolePages({ ...foundation, operator, apis }, observability)
        : undefined
    const revision = await watchRevision(database.control, async () => {
      await clock.refresh(database.control)
      apis?.forget()
    })
    stops.push(() => revision.stop())
    await clock.refresh(database.control) // what changed before the watch began

    ports.attach({
      ...(roles.has('api') && apis?.listeners),
      ...(consolePages && { console: consolePages }),
    })
    stops.push(async () => {
      leaving = true
      await wait(timeouts.leaveMs)
      await ports.drain(timeouts.drainMs)
    })
    return { baseUrls, demo, chains: chains.of, operator, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function withRootKeys({ signer, outbound, urls }: Google, { machine }: Clock): ApiParts['google'] {
  return { signer, rootKeys: urls && createRootKeys({ url: urls.keys, outbound, now: machine }) }
}

interface Work extends Delivery {
  readonly wallets: WalletSources
}

/** What a worker does beside answering: it delivers, ends passes, holds and disputes in time, and deletes what has been kept long enough. */
function startWork(parts: Foundation): Work {
  const { settings, database, clock, log, google, bank } = parts
  const delivery = openDelivery(parts)
  const passTokens = openPassTokens(database.pepper)
  const tenantNames = createTenantNames(database.control)
  const { urls } = google
  const pushes = openPushes({ ...parts, passTokens })
  const followers = urls && openFollowers({ ...parts, passTokens, tenantNames, google: { ...google, urls } })
  const jobs = [
    delivery,
    startCleanupJob(database, clock, log),
    startResealJob(database.control, createCardKeys(database.control, database.pepper, clock), log),
    startExpiryJob({ ...parts, passTokens }, log),
    startHoldExpiryJob(parts, log),
    startDisputeExpiryJob(parts, log),
    startActivationJob(parts, log),
    startDestinationScreeningJob(parts, log),
    bank && startBankJob({ ...parts, bank, seals: createSeals(database.pepper) }, log),
    startSettlementJob(parts, log),
    startStandInJob(parts, log),
    startRetentionJob({
      control: database.control,
      clock,
      log,
      days: settings.eventDays,
      scanDays: settings.scanDays,
    }),
    startWipeJob({ database, clock }, log),
    startReportJob({ ...parts, links: openReportLinks(database.pepper, parts.baseUrls) }, log),
    startScreeningJob(parts, log),
    startAbandonedJob(parts, log),
    parts.chains.start({
      ...parts,
      control: database.control,
      pools: database,
      openListener: (environment, space) => openTransferListener(parts, environment, space),
    }),
    followers,
    pushes,
  ]
  const stop = async () => {
    await Promise.all(jobs.map((job) => job?.stop()))
  }
  const wallets = { apple: pushes.apple, google: followers?.google ?? {} }
  return { workers: delivery.workers, wallets, stop }
}

/** What the APIs are made of. The members that may be absent watch over requests, where that is wanted. */
export interface ApiParts extends Omit<Foundation, 'settings' | 'database' | 'google' | 'bank' | 'chains'> {
  readonly settings: Pick<
    Settings,
    | 'trustedProxies'
    | 'timeouts'
    | 'dataDir'
    | 'applePass'
    | 'pay'
    | 'production'
    | 'licensedStates'
    | 'rates'
  >
  readonly google: {
    readonly signer: GoogleSigner
    /** Absent where passes are not sent to Google. */
    readonly rootKeys?: RootKeys | undefined
  }
  readonly database: Pick<OpenDatabase, 'control' | 'sandbox' | 'live' | 'pepper'>
  readonly limiter: RequestLimiter
  /** Where USDC is paid; absent: where it is without settings. */
  readonly usdcChains?: Readonly<Record<Environment, UsdcChain>>
  /** Validates everything a second time. */
  readonly guard?: ContractGuard | undefined
  /** Counts requests. */
  readonly usage?: UsageMeter | undefined
  /** Whether requests are noted for their tenants to look at. */
  readonly logsRequests?: boolean
  /** Times requests, and sheds them under load. */
  readonly observability?: Observability | undefined
}

export interface Apis {
  readonly listeners: Readonly<Record<Environment, RequestListener>>
  /** What members do on pages of the console. */
  readonly operate: Operate
  /** For pages that show events as they happen. */
  readonly streams: Readonly<Record<Environment, EventStreams>>
  /** The control schema has changed: what is cached of it is dropped. */
  forget(): void
  /** Writes the request logs. */
  flush(): Promise<void>
  /** After the last request. */
  stop(): Promise<void>
}

/** The APIs of both environments. */
export function createApis(parts: ApiParts): Apis {
  const { settings, database, clock, log, baseUrls, outbound, isLeaving, limiter, usage, observability } =
    parts
  const { google } = parts
  const { control, pepper } = database
  const presence = createPresence()
  const keyring = createKeyring(control, pepper)
  const wallet = createWallet(google.signer, clock, presence)
  const passTokens = openPassTokens(pepper)
  const reportLinks = openReportLinks(pepper, baseUrls)
  const tenantNames = createTenantNames(control)
  const barcodes = createBarcodes()
  const apple = openApple(settings, clock)
  const seals = createSeals(pepper)
  const shared = {
    clock,
    log,
    keyring,
    limiter,
    usage,
    seals,
    cardKeys: createCardKeys(control, pepper, clock),
    cardEncryption: createCardEncryption(
      () => openPayTrust(settings, clock.machine()),
      deriveSecret(pepper, 'card network'),
      clock.machine,
    ),
    turns: createTurns(presence),
    factors: createFactors(control, pepper, clock, observability?.memberPaused),
    cursorKey: deriveSecret(pepper, 'cursors'),
    proxies: readTrust(settings.trustedProxies),
    bodyMs: settings.timeouts.bodyMs,
    consoleUrl: baseUrls.console,
  }
  const requestLogs: RequestLog[] = []
  const serviceOf = (environment: Environment): Service => {
    const pool = database[environment]
    const tables = createVersions(versions, handlers, environment, baseUrls.console)
    const requestLog = parts.logsRequests
      ? createRequestLog({ database: pool, versions: tables, now: clock.machine, log })
      : undefined
    if (requestLog) requestLogs.push(requestLog)
    const service: Service = {
      ...shared,
      environment,
      database: pool,
      sandbox: database.sandbox,
      account: createAccountChanges(control, pepper, environment, clock),
      links: {
        baseUrl: baseUrls[environment],
        wallet,
        passTokens: passTokens[environment],
        reports: reportLinks[environment],
      },
      destinations: outbound[environment],
      endpointSecrets: createEndpointSecrets(seals, environment),
      sanctions: parts.sanctions,
      licensedStates: settings.licensedStates,
      usdcChain: (parts.usdcChains ?? USDC_CHAINS)[environment],
      rates: settings.rates,
      streams: createEventStreams({ database: pool, environment, wakeUps: parts.wakeUps, isLeaving }),
      openStreams: new Map(),
      deliveriesDue: (tenantId) => parts.wakeUpChannel.publish(environment, tenantId),
      versions: tables,
      requestLog,
      traffic: observability?.watch(environment, (exchange, error) => void refuse(exchange, service, error)),
    }
    return service
  }
  const services = { sandbox: serviceOf('sandbox'), live: serviceOf('live') }
  const listenerOf = (environment: Environment): RequestListener => {
    const service = services[environment]
    const pool = database[environment]
    // Where nothing watches, only the databases are asked.
    const isReady = observability?.isReady ?? (() => databasesAnswer([control, pool]))
    const sources = { baseUrl: baseUrls[environment], passTokens: passTokens[environment], tenantNames }
    const files = createPassFiles({ database: pool, sources, builder: apple.builder })
    const tokens = passTokens[environment]
    const page = passPageRoute({ environment, database: pool, sources, passTokens: tokens, barcodes })
    const appleService = appleServiceRoute({
      passType: () => apple.signer().passType.passTypeIdentifier,
      passTokens: tokens,
      devices: createDevices({ ...parts, environment, pool, control, passTokens }),
      files,
      tags: createChangeTags(pepper, environment),
      log,
    })
    const holders = createHolders(service, {
      '/p/': firstOf(passFileRoute(files, tokens), page),
      [GOOGLE_PREFIX]: googleRoute({
        environment,
        database: pool,
        clock,
        log,
        issuerId: google.signer.issuerId,
        keys: google.rootKeys,
        showing: { baseUrl: baseUrls[environment], passTokens: passTokens[environment] },
        readPin: (tenantId) => readPin(control, tenantId, environment),
        deliveriesDue: service.deliveriesDue,
      }),
      '/apple/v1/': appleService,
      '/reports/': reportFileRoute({ database: pool, links: reportLinks[environment] }),
    })
    return createApiListener(service, isReady, holders, parts.guard?.watch)
  }
  const forget = () => {
    keyring.forget()
    tenantNames.forget()
  }
  return {
    listeners: { sandbox: listenerOf('sandbox'), live: listenerOf('live') },
    operate: createOperate(services),
    streams: { sandbox: services.sandbox.streams, live: services.live.streams },
    forget,
    async flush() {
      await Promise.all(requestLogs.map((each) => each.flush()))
    },
    async stop() {
      await Promise.all(requestLogs.map((each) => each.stop()))
    },
  }
}

interface ConsolePages extends Foundation {
  readonly operator: Operator
  readonly apis: Pick<Apis, 'operate' | 'streams'>
}

/** What the console's port answers: to those who run the service, to members who confirm requests, sign in and work, and to readers. */
function createConsolePages(parts: ConsolePages, observability: Observability): express.Express {
  const { settings, database, clock, baseUrls, log } = parts
  const pages = express()
  pages.disable('x-powered-by')
  pages.use(observability.pages)
  const { control, pepper } = database
  const shared = {
    csrfKey: deriveSecret(pepper, 'forms of the console'),
    consoleUrl: baseUrls.console,
    proxies: readTrust(settings.trustedProxies),
    log,
  }
  const factors = createFactors(control, pepper, clock, observability.memberPaused)
  pages.use(createChallenges({ ...shared, factors }))
  const sessions = createSessions({ control, pepper, clock, secure: baseUrls.console.startsWith('https:') })
  const wrongCodes = createWrongCodes(control, clock, observability.memberPaused)
  pages.use(createSignIn({ ...shared, control, pepper, clock, wrongCodes, sessions }))
  const barcodes = createBarcodes()
  pages.use(createJoin({ ...shared, sessions, operator: parts.operator, barcodes }))
  pages.use(createAuthorization({ ...shared, control, pepper, clock, sessions }))
  pages.use(
    createDashboard({
      ...shared,
      ...parts.apis,
      sessions,
      operator: parts.operator,
      wrongCodes,
      databases: database,
      barcodes,
    }),
  )
  pages.use(
    createConsole({
      generated: fileURLToPath(new URL('../../generated', import.meta.url)),
      documents: fileURLToPath(new URL('../../openapi', import.meta.url)),
      versions: versions.map(({ name }) => name),
      consoleUrl: baseUrls.console,
      sandboxUrl: baseUrls.sandbox,
      build: () => ensureBuilt(TOOLKIT_CONFIG, ['site']),
    }),
  )
  return pages
}
