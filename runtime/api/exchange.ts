import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CheckedItem } from 'dateline/runtime'
import type { Logger } from 'pino'
import type { CardVault } from '../cards/card-keys/vault.ts'
import type { CardEncryption } from '../cards/provisioning/encryption/encryption.ts'
import type { Pool, Transactions } from '../database/pool/pool.ts'
import type { EventStreams } from '../events/emit/streams.ts'
import type { ProxyTrust } from '../platform/client-address.ts'
import type { DurationCounts } from '../platform/durations.ts'
import type { Environment } from '../platform/environment.ts'
import type { TenantTurns } from '../platform/fairness/turns.ts'
import type { Seals } from '../platform/secrets.ts'
import type { BaseUrls } from '../tenants/addresses/base-urls.ts'
import type { Clock } from '../tenants/clock/clock.ts'
import type { Factors } from '../tenants/factors/factors.ts'
import type { Caller } from '../tenants/keys/caller.ts'
import type { KnownCredential, MemberName } from '../tenants/keys/credential-queries.ts'
import type { Keyring } from '../tenants/keys/keyring.ts'
import type { Allowance, RequestLimiter } from '../tenants/limits/limiter.ts'
import type { Closures } from '../tenants/moves/closures.ts'
import type { UsageMeter } from '../tenants/usage/meter.ts'
import type { Span, Tracer } from '../tracing/span.ts'
import type { AccountChanges } from './account.ts'
import type { ErrorCode } from './errors/errors.ts'
import type { Context, Destinations, EndpointSecrets, Links } from './handler.ts'
import type { ApiRoute, Versions, VersionTable } from './version-table.ts'

export interface ApiService {
  readonly environment: Environment
  readonly database: Pool
  /** Pool of the sandbox, for operations of live that copy from it. The role of live has no grant there. */
  readonly sandbox: Pool
  readonly account: AccountChanges
  readonly seals: Seals
  readonly vault: CardVault
  readonly cardEncryption: CardEncryption
  readonly factors: Factors
  /** Usage meter. Absent: usage is not counted. */
  readonly usage?: UsageMeter | undefined
  readonly clock: Clock
  readonly keyring: Keyring
  /** Absent: every tenant is served. */
  readonly closures?: Closures | undefined
  readonly limiter: RequestLimiter
  /** Turns of this process, whose requests share one event loop. */
  readonly turns: TenantTurns
  readonly links: Links
  readonly destinations: Destinations
  readonly endpointSecrets: EndpointSecrets
  readonly sanctions: Context['sanctions']
  readonly licensedStates: ReadonlySet<string>
  readonly passNfc: boolean
  readonly usdcChain: Context['usdcChain']
  readonly rates: Context['rates']
  readonly streams: EventStreams
  /** Number of open streams of each tenant on this node. */
  readonly openStreams: Map<string, number>
  /** Wakes the workers after a commit that made deliveries due for the tenant. */
  readonly deliveriesDue: (tenantId: string) => void
  readonly versions: Versions
  /** Secret for the MAC of cursors. */
  readonly cursorKey: string
  readonly proxies: ProxyTrust
  /** Milliseconds in which a body must arrive. */
  readonly bodyMs: number
  readonly baseUrls: BaseUrls
  readonly log: Logger
  /** Absent: requests are not traced. */
  readonly tracer?: Tracer | undefined
  /** Absent: requests are not counted, shed or timed. */
  readonly traffic?: Traffic | undefined
  /** Absent: requests are not logged. */
  readonly requestLog?: Pick<RequestLog, 'note'> | undefined
}

/** A member for whom the dashboard makes a request. */
export interface RequestingMember extends MemberName {
  /**
   * Checks the code that the member entered; present if the dashboard requires one. False: the code is missing or
   * wrong.
   */
  readonly confirm?: () => Promise<boolean>
  /** Set if writes are rolled back, see `dryRunObstacle`. */
  readonly isDryRun?: true
}

/** A request as it arrives, before anything is checked. */
export interface ReceivedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The member for whom the dashboard makes the request, which then needs no key; undefined for other requests. */
  readonly member: RequestingMember | undefined
  readonly requestId: string
  /** Monotonic time of arrival in milliseconds (`performance.now`). */
  readonly beganAt: number
  /** Service time of arrival, milliseconds since the epoch. */
  readonly now: number
  /** Path of the request target, undecoded. */
  readonly path: string
  /** Query string, undecoded, without the question mark. */
  readonly search: string
  /** Client address, with forwarding headers evaluated only for trusted proxies. */
  readonly address: string
  /** Version changes that altered the request or its answer. Translations add to it. */
  readonly touched: Set<string>
  /** Absent if requests are not traced. */
  readonly span?: Span | undefined
}

/**
 * Facts about a request for the answer, the request log and the metrics. They are valid at any stage at which the
 * request ends. The pipeline records here what its stages find; no stage reads it.
 */
export interface Exchange extends ReceivedRequest {
  credential: KnownCredential | undefined
  /** The version in which the answer is written: the current version until a different one is resolved. */
  answerVersion: VersionTable
  route: ApiRoute | undefined
  allowance: Allowance | undefined
  /** The body as sent, in the caller's version. */
  body: unknown
  /** Whether the handler was called. If so, errors name fields as the canonical version does. */
  reached: boolean
  refusal: ErrorCode | undefined
  /** Failures that were simulated, for the header of the answer. */
  readonly injected: string[]
}

type ParameterValues = Readonly<Record<string, unknown>>

/** Parameters in the caller's version, decoded and validated. */
export interface RequestParameters {
  readonly pathParameters: ParameterValues
  readonly query: ParameterValues
  readonly idempotencyKey: string | undefined
}

export interface RequestBody {
  /** The body as sent, in the caller's version; undefined if there is none. */
  readonly body: unknown
  /** Items of a batch, validated one by one. */
  readonly items: readonly CheckedItem<unknown>[] | undefined
}

/** A request that the stages before the handler have accepted, with their findings. */
export interface ApiCall extends ReceivedRequest, RequestParameters, RequestBody {
  readonly credential: KnownCredential
  readonly version: VersionTable
  readonly route: ApiRoute
  readonly allowance: Allowance
  /** Service time in the space of the caller, which `now` is not if a named sandbox has its clock in the past. */
  readonly time: number
}

/** A successful or stored answer, in canonical form. */
export interface WrittenReply {
  readonly status: number
  readonly body: unknown
  /** The body as JSON, if it is already serialized. */
  readonly text: string | undefined
  readonly replayed: boolean
}

export function callerOf({ credential, version }: ApiCall): Caller {
  const { tenant, space, environment, key } = credential
  return { tenant, space, environment, key, version: version.name }
}

/** Returns the environment's database for the caller's tenant. */
export function databaseOf({ credential }: ApiCall, { database }: ApiService): Transactions {
  return database.forTenant(credential.tenant.id)
}

/** The requests in progress of one environment, and counters of the finished ones. */
export interface Traffic {
  /** Returns the reason to refuse a new request; undefined if there is capacity. */
  overload(): string | undefined
  /**
   * Whether to refuse requests of the tenant, because too many of them wait for the database and the queue is too
   * long.
   */
  crowdedBy(tenantId: string): boolean
  enter(exchange: Exchange): void
  /** Called after all work for a request has ended, answered or not. */
  leave(exchange: Exchange): void
  answered(exchange: Exchange, status: number): void
  databaseFailed(error: unknown): void
  readonly underWay: ReadonlySet<Exchange>
  tallies(): Iterable<OperationTally>
  /** Numbers of requests refused because of overload, by reason. */
  readonly shed: ReadonlyMap<string, number>
  /** Numbers of requests refused for lack of a token or slot, by bucket. */
  readonly limited: ReadonlyMap<string, number>
  /** Number of clients that disconnected before they were answered. */
  aborted(): number
  /** Number of requests that took too long to answer. */
  expired(): number
  /** Stops the search for requests that take too long. */
  stop(): void
}

export interface RequestLog {
  /** Records a request that is being answered. @param text body of the answer; undefined if it has none. */
  note(exchange: Exchange, status: number, text: string | undefined): void
  /** Writes the recorded requests. Rejects if that fails; if the database is unavailable, the requests are kept. */
  flush(): Promise<void>
  stop(): Promise<void>
  /** Approximate number of bytes that unwritten requests occupy. */
  waitingBytes(): number
  readonly dropped: ReadonlyMap<Dropped, number>
}

/** Counters of one operation. */
export interface OperationTally extends DurationCounts {
  readonly environment: Environment
  /** Empty if the operation is unknown. */
  readonly operation: string
  readonly version: string
  readonly statuses: Map<number, number>
}

/**
 * Why a request was not logged: too many of the tenant between two flushes, too much in memory, or refused by the
 * database.
 */
export type Dropped = 'tenant' | 'full' | 'refused'
