import type { RequestListener, ServerResponse } from 'node:http'
import express from 'express'
import type { Logger } from 'pino'
import { versions } from '../../generated/versions.ts'
import { readTrust } from '../api/address.ts'
import type { Admission } from '../api/admission.ts'
import { refuse } from '../api/answer.ts'
import { type ContractGuard, createContractGuard } from '../api/contract-guard.ts'
import { type ApiError, internalError, notFound } from '../api/errors.ts'
import type { Service } from '../api/exchange.ts'
import { runPipeline } from '../api/pipeline.ts'
import { createUnversioned, sendError } from '../api/unversioned.ts'
import { createVersions } from '../api/versions.ts'
import type { Wallet } from '../contract.ts'
import type { Hints } from '../events/hints.ts'
import type { Notices } from '../events/notices.ts'
import { createEventStreams } from '../events/streams.ts'
import type { Operations } from '../observability/operations.ts'
import { databasesAnswer } from '../observability/readiness.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { BaseUrls } from '../platform/addresses/base-urls.ts'
import type { Clock } from '../platform/clock/clock.ts'
import type { OpenDatabase } from '../platform/database/open/open-database.ts'
import type { Environment } from '../platform/environment.ts'
import { createFactors } from '../platform/factors/factors.ts'
import type { Keyring } from '../platform/keys/keyring.ts'
import type { RequestLimiter } from '../platform/limits/limiter.ts'
import { createSeals, deriveSecret } from '../platform/secrets.ts'
import type { Settings } from '../platform/settings.ts'
import type { UsageMeter } from '../platform/usage/meter.ts'
import { createAccountChanges } from '../resources/account/changes.ts'
import { createEndpointSecrets } from '../resources/webhook-endpoints/secrets.ts'
import { handlers } from './handlers.ts'

/** What the APIs of both environments stand on. */
export interface Deps {
  readonly settings: Pick<Settings, 'trustedProxies' | 'timeouts'>
  readonly database: Pick<OpenDatabase, 'control' | 'sandbox' | 'live' | 'pepper'>
  readonly clock: Clock
  readonly keyring: Keyring
  readonly limiter: RequestLimiter
  readonly admission: Admission
  readonly wallet: Wallet
  readonly log: Logger
  readonly baseUrls: BaseUrls
  /** The way out to tenants' addresses. */
  readonly outbound: Readonly<Record<Environment, Outbound>>
  /** Who waits for new events in this process. */
  readonly hints: Hints
  /** Deliveries are due. */
  readonly notices: Notices
  /** Streams are to end, because the process is. */
  readonly isLeaving: () => boolean
  /** Judges everything a second time, where that is wanted. */
  readonly guard?: ContractGuard | undefined
  /** Counts requests, where that is wanted. */
  readonly usage?: UsageMeter | undefined
  /** Watches over requests, where that is wanted. */
  readonly operations?: Operations | undefined
}

/** A guard whose findings go to the log. */
export function createLoggedGuard(log: Logger): ContractGuard {
  return createContractGuard(
    (disagreement) => log.error({ disagreement }, 'the contract guard disagrees'),
    (error) => log.error({ err: error }, 'the contract guard could not judge'),
  )
}

/** The API of one environment, to be given to a listener of its own. */
export function createApi(deps: Deps, environment: Environment): RequestListener {
  const service = createService(deps, environment)
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(createUnversioned(service, () => isReady(deps, environment)))
  const fail = (response: ServerResponse, error?: unknown) => {
    if (response.headersSent) response.destroy()
    else
      sendError(
        response,
        service,
        error === undefined ? notFound('There is nothing here.') : fault(deps, error),
      )
  }
  const listener: RequestListener = (request, response) => {
    // Past Express, which gives each request and response another prototype: that costs more than all stages together.
    if (isVersioned(request.url ?? '/')) {
      runPipeline(request, response, service).catch((error) => fail(response, error))
      return
    }
    // Express hands over what nobody answers, what failed, and targets that it cannot read at all.
    app(request as express.Request, response as express.Response, (error?: unknown) => fail(response, error))
  }
  return deps.guard ? deps.guard.watch(listener) : listener
}

/** Where nothing watches, only the databases are asked. */
function isReady({ operations, database }: Deps, environment: Environment): Promise<boolean> {
  return operations ? operations.isReady() : databasesAnswer([database.control, database[environment]])
}

function fault({ log }: Deps, error: unknown): ApiError {
  log.error({ err: error }, 'a request outside /v1 failed')
  return internalError()
}

/** Also where a proxy sends the target whole (RFC 9112, 3.2.2). */
function isVersioned(target: string): boolean {
  return target.startsWith('/v1/') || /^(https?:\/\/[^/?#]*)?\/v1(?![^/?])/i.test(target)
}

function createService(deps: Deps, environment: Environment): Service {
  const { settings, database, clock, keyring, limiter, admission, wallet, log, baseUrls, usage } = deps
  const { control, pepper } = database
  const { hints, notices, isLeaving } = deps
  const seals = createSeals(pepper)
  const service: Service = {
    environment,
    database: database[environment],
    account: createAccountChanges(control, pepper, environment, clock),
    seals,
    factors: createFactors(control, pepper, clock, deps.operations?.memberPaused),
    usage,
    clock,
    keyring,
    limiter,
    admission,
    links: { baseUrl: baseUrls[environment], wallet },
    destinations: { check: (url) => deps.outbound[environment].judge(url) },
    endpointSecrets: createEndpointSecrets(seals, environment),
    streams: createEventStreams({ database: database[environment], environment, hints, isLeaving }),
    openStreams: new Map(),
    deliveriesDue: (tenantId) => notices.post(environment, tenantId),
    versions: createVersions(versions, handlers, environment, baseUrls.console),
    cursorKey: deriveSecret(pepper, 'cursors'),
    proxies: readTrust(settings.trustedProxies),
    bodyMs: settings.timeouts.bodyMs,
    consoleUrl: baseUrls.console,
    log,
    traffic: deps.operations?.watch(environment, (exchange, error) => void refuse(exchange, service, error)),
  }
  return service
}
