import type { RequestListener } from 'node:http'
import { versions } from '../../generated/versions.ts'
import { createAccountChanges } from '../account/account/changes.ts'
import { refuse } from '../api/answer.ts'
import type { ApiService, RequestLog } from '../api/exchange.ts'
import { createApiListener } from '../api/listener.ts'
import { createDryRun, createOperate, type DryRun, type Operate } from '../api/operate.ts'
import { createRequestLog } from '../api/request-log.ts'
import { createVersions } from '../api/routing.ts'
import { requireOpen } from '../api/served.ts'
import type { CardVault } from '../cards/card-keys/vault.ts'
import { createCardEncryption } from '../cards/provisioning/encryption/encryption.ts'
import { openPayTrust } from '../cards/provisioning/encryption/trust.ts'
import type { OpenDatabase } from '../database/open/open-database.ts'
import { readSpace, SPACE_PATTERN } from '../database/space.ts'
import { createEventStreams, type EventStreams } from '../events/emit/streams.ts'
import { KEYS_PREFIX } from '../events/webhook-endpoints/public-keys.ts'
import { createEndpointSecrets } from '../events/webhook-endpoints/secrets.ts'
import { USDC_CHAINS, type UsdcChain } from '../money/chain/usdc-chains.ts'
import { reportFileRoute } from '../money/reports/report-files.ts'
import type { Observability } from '../operator/metrics/observability.ts'
import { databasesAnswer } from '../operator/metrics/readiness.ts'
import { createDevices } from '../passes/passes/registrations.ts'
import { appleServiceRoute } from '../passes/wallets/pages/apple-service.ts'
import { createBarcodes } from '../passes/wallets/pages/barcodes.ts'
import { createChangeTags } from '../passes/wallets/pages/change-tags.ts'
import type { RootKeys } from '../passes/wallets/pages/google/root-keys.ts'
import { GOOGLE_PREFIX, googleRoute } from '../passes/wallets/pages/google/route.ts'
import { createHolders, firstOf, type HolderRoute } from '../passes/wallets/pages/holders.ts'
import { optOutRoute } from '../passes/wallets/pages/opt-out.ts'
import { createPassFiles, passFileRoute } from '../passes/wallets/pages/pass-files.ts'
import { passPageRoute } from '../passes/wallets/pages/pass-pages.ts'
import { openApple } from '../passes/wallets/render/apple/open-signer.ts'
import { createWallet, type GoogleSigner } from '../passes/wallets/render/google/signer.ts'
import { openPassTokens, type PassTokens } from '../passes/wallets/render/pass-tokens.ts'
import { readTrust } from '../platform/client-address.ts'
import type { Environment } from '../platform/environment.ts'
import { createPresence } from '../platform/fairness/presence.ts'
import { createTurns } from '../platform/fairness/turns.ts'
import { createSeals, deriveSecret } from '../platform/secrets.ts'
import type { Settings } from '../platform/settings.ts'
import { openReportLinks } from '../tenants/addresses/report-links.ts'
import { readPin } from '../tenants/admin/pins.ts'
import { createFactors } from '../tenants/factors/factors.ts'
import { createKeyring } from '../tenants/keys/keyring.ts'
import { createTenantNames } from '../tenants/keys/tenant-names.ts'
import type { RequestLimiter } from '../tenants/limits/limiter.ts'
import { type Closures, createClosures } from '../tenants/moves/closures.ts'
import type { UsageMeter } from '../tenants/usage/meter.ts'
import type { Foundation } from './foundation.ts'
import { handlers } from './handlers.ts'
import { publicKeysRoute } from './public-keys-route.ts'

/** Parts of the APIs. Optional members are absent in tests and tools that do not need them. */
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
    | 'passNfc'
    | 'rates'
  >
  readonly google: {
    readonly signer: GoogleSigner
    /** Absent if passes are not sent to Google. */
    readonly rootKeys?: RootKeys | undefined
  }
  readonly database: Pick<OpenDatabase, 'control' | 'sandbox' | 'live' | 'pepper'>
  /** Makes and opens card numbers. */
  readonly vault: CardVault
  readonly limiter: RequestLimiter
  /** Chains for USDC payouts. Absent for the defaults, which need no settings. */
  readonly usdcChains?: Readonly<Record<Environment, UsdcChain>>
  /** Wraps the listener of each API, to observe its responses. */
  readonly watch?: ((listener: RequestListener) => RequestListener) | undefined
  /** Absent if requests are not counted. */
  readonly usage?: UsageMeter | undefined
  /** Whether to write the request log that tenants can read. */
  readonly logsRequests?: boolean
  /** Measures requests and sheds them under load. */
  readonly observability?: Observability | undefined
}

export interface Apis {
  readonly listeners: Readonly<Record<Environment, RequestListener>>
  /** Performs operations for members on dashboard pages. */
  readonly operate: Operate
  readonly dryRun: DryRun
  /** For pages that show events live. */
  readonly streams: Readonly<Record<Environment, EventStreams>>
  /** Drops everything cached from the control schema. Called after a change there. */
  forget(): void
  /** Writes the buffered request logs. */
  flush(): Promise<void>
  /** Called after the last request. */
  stop(): Promise<void>
}

/** Refuses the tokens of tenants in a move. */
function servedTokens(tokens: PassTokens, closures: Closures): PassTokens {
  return {
    ...tokens,
    read(use, token) {
      const place = tokens.read(use, token)
      if (place) requireOpen(closures, readSpace(place.space).tenantId)
      return place
    },
  }
}

/** Refuses paths with the space of a tenant in a move. */
function servedRoute(closures: Closures, route: HolderRoute): HolderRoute {
  return (visit) => {
    const [space] = new RegExp(SPACE_PATTERN).exec(visit.rest) ?? []
    if (space !== undefined) requireOpen(closures, readSpace(space).tenantId)
    return route(visit)
  }
}

/** Creates the APIs of both environments. */
export function createApis(parts: ApiParts): Apis {
  const { settings, database, clock, log, baseUrls, outbound, isLeaving, limiter, usage, observability } =
    parts
  const { google } = parts
  const { control, pepper } = database
  const presence = createPresence()
  const keyring = createKeyring(control, pepper)
  const closures = createClosures(control)
  const wallet = createWallet(google.signer, clock, presence)
  const allTokens = openPassTokens(pepper)
  const passTokens = {
    sandbox: servedTokens(allTokens.sandbox, closures),
    live: servedTokens(allTokens.live, closures),
  }
  const reportLinks = openReportLinks(pepper, baseUrls)
  const tenantNames = createTenantNames(control)
  const barcodes = createBarcodes()
  const apple = openApple(settings, clock)
  const seals = createSeals(pepper)
  const shared = {
    clock,
    log,
    tracer: parts.tracer,
    keyring,
    closures,
    limiter,
    usage,
    seals,
    vault: parts.vault,
    cardEncryption: createCardEncryption(
      () => openPayTrust(settings, clock.machine()),
      deriveSecret(pepper, 'card network'),
      clock.machine,
    ),
    turns: createTurns(presence),
    factors: createFactors(control, pepper, clock, observability?.senderPaused),
    cursorKey: deriveSecret(pepper, 'cursors'),
    proxies: readTrust(settings.trustedProxies),
    bodyMs: settings.timeouts.bodyMs,
    baseUrls,
  }
  const requestLogs: RequestLog[] = []
  const serviceOf = (environment: Environment): ApiService => {
    const pool = database[environment]
    const tables = createVersions(versions, handlers, environment, baseUrls.console)
    const requestLog = parts.logsRequests
      ? createRequestLog({ database: pool, versions: tables, now: clock.machine, log })
      : undefined
    if (requestLog) {
      requestLogs.push(requestLog)
      observability?.watchRequestLog(environment, requestLog)
    }
    const service: ApiService = {
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
      passNfc: settings.passNfc,
      usdcChain: (parts.usdcChains ?? USDC_CHAINS)[environment],
      rates: settings.rates,
      streams: createEventStreams({ database: pool, environment, wakeUps: parts.wakeUps, isLeaving }),
      openStreams: new Map(),
      deliveriesDue: (tenantId) => parts.wakeUpChannel.publish(environment, tenantId),
      versions: tables,
      requestLog,
      traffic: observability?.watch(environment, (exchange, error) => refuse(exchange, service, error)),
    }
    return service
  }
  const services = { sandbox: serviceOf('sandbox'), live: serviceOf('live') }
  const listenerOf = (environment: Environment): RequestListener => {
    const service = services[environment]
    const pool = database[environment]
    // Without observability, readiness depends only on the databases.
    const isReady = observability?.isReady ?? (() => databasesAnswer([control, pool]))
    const sources = { baseUrl: baseUrls[environment], passTokens: passTokens[environment], tenantNames }
    const files = createPassFiles({ database: pool, sources, builder: apple.builder })
    const tokens = passTokens[environment]
    const page = passPageRoute({ environment, database: pool, sources, passTokens: tokens, barcodes })
    const holding = {
      environment,
      database: pool,
      readPin: (tenantId: string) => readPin(control, tenantId, environment),
      deliveriesDue: service.deliveriesDue,
    }
    const appleService = appleServiceRoute({
      passType: () => apple.signer().passType.passTypeIdentifier,
      passTokens: tokens,
      devices: createDevices({ ...parts, environment, pool, control, passTokens }),
      files,
      tags: createChangeTags(pepper, environment),
      log,
    })
    const holders = createHolders(service, {
      '/p/': firstOf(
        passFileRoute(files, tokens),
        optOutRoute({ ...holding, sources, passTokens: tokens }),
        page,
      ),
      [GOOGLE_PREFIX]: servedRoute(
        closures,
        googleRoute({
          ...holding,
          clock,
          log,
          issuerId: google.signer.issuerId,
          keys: google.rootKeys,
          showing: { baseUrl: baseUrls[environment], passTokens: passTokens[environment] },
        }),
      ),
      '/apple/v1/': appleService,
      '/reports/': reportFileRoute({ database: pool, links: reportLinks[environment] }),
      [KEYS_PREFIX]: publicKeysRoute({ environment, database: pool, seals }),
    })
    return createApiListener(service, isReady, holders, parts.watch)
  }
  const forget = () => {
    keyring.forget()
    closures.forget()
    tenantNames.forget()
  }
  return {
    listeners: { sandbox: listenerOf('sandbox'), live: listenerOf('live') },
    operate: createOperate(services),
    dryRun: createDryRun(services),
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
