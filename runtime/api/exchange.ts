import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CheckedItem } from 'dateline/runtime'
import type { Logger } from 'pino'
import type { CardKeys } from '../cards/card-keys/card-keys.ts'
import type { CardEncryption } from '../cards/provisioning/encryption/encryption.ts'
import type { Pool, Transactions } from '../database/pool/pool.ts'
import type { EventStreams } from '../events/emit/streams.ts'
import type { ProxyTrust } from '../platform/client-address.ts'
import type { Environment } from '../platform/environment.ts'
import type { TenantTurns } from '../platform/fairness/turns.ts'
import type { Seals } from '../platform/secrets.ts'
import type { Clock } from '../tenants/clock/clock.ts'
import type { Factors } from '../tenants/factors/factors.ts'
import type { Caller } from '../tenants/keys/caller.ts'
import type { KnownCredential, MemberName } from '../tenants/keys/credential-queries.ts'
import type { Keyring } from '../tenants/keys/keyring.ts'
import type { Allowance, RequestLimiter } from '../tenants/limits/limiter.ts'
import type { UsageMeter } from '../tenants/usage/meter.ts'
import type { AccountChanges } from './account.ts'
import type { ErrorCode } from './errors/errors.ts'
import type { Context, Destinations, EndpointSecrets, Links } from './handler.ts'
import type { ApiRoute, Versions, VersionTable } from './version-table.ts'

/** What the stages of one environment's API use. */
export interface ApiService {
  readonly environment: Environment
  readonly database: Pool
  /** The sandbox's, for what live copies from it: live itself has no grant there. */
  readonly sandbox: Pool
  readonly account: AccountChanges
  readonly seals: Seals
  readonly cardKeys: CardKeys
  readonly cardEncryption: CardEncryption
  readonly factors: Factors
  /** Absent: nothing is counted. */
  readonly usage?: UsageMeter | undefined
  readonly clock: Clock
  readonly keyring: Keyring
  readonly limiter: RequestLimiter
  /** Of this process: all requests share its event loop. */
  readonly turns: TenantTurns
  readonly links: Links
  readonly destinations: Destinations
  readonly endpointSecrets: EndpointSecrets
  readonly sanctions: Context['sanctions']
  readonly licensedStates: ReadonlySet<string>
  readonly usdcChain: Context['usdcChain']
  readonly rates: Context['rates']
  readonly streams: EventStreams
  /** How many streams each tenant has open on this node. */
  readonly openStreams: Map<string, number>
  /** Wakes the workers: the tenant has deliveries that are due. */
  readonly deliveriesDue: (tenantId: string) => void
  readonly versions: Versions
  /** Key of the cursors' MAC. */
  readonly cursorKey: string
  readonly proxies: ProxyTrust
  /** How long a body may take to arrive, in milliseconds. */
  readonly bodyMs: number
  /** Origin, without a slash at the end. */
  readonly consoleUrl: string
  readonly log: Logger
  /** Absent: nothing is counted, shed or timed. */
  readonly traffic?: Traffic | undefined
  /** Absent: nothing is noted. */
  readonly requestLog?: Pick<RequestLog, 'note'> | undefined
}

/** A member for whom the console makes a request. */
export interface RequestingMember extends MemberName {
  /** Checks the fresh code that came with the member's form; given where the console wants one. False: missing or wrong. */
  readonly confirm?: () => Promise<boolean>
}

/** A request as it arrives, before anything is checked. */
export interface ReceivedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The member for whom the console makes the request, which then needs no key. */
  readonly member: RequestingMember | undefined
  readonly requestId: string
  /** Milliseconds that never run backwards. */
  readonly beganAt: number
  /** Service time of arrival, milliseconds since the epoch. */
  readonly now: number
  /** Path of the request target, undecoded. */
  readonly path: string
  /** Query string, undecoded, without the question mark. */
  readonly search: string
  /** Address of the client, as far as proxies are trusted. */
  readonly address: string
  /** Version changes that made a difference to the request; translations add to it. */
  readonly touched: Set<string>
}

/**
 * What the answer, the request log and the metrics need to know about a request, at any moment until it is answered. The
 * pipeline notes here what its stages find; no stage reads it.
 */
export interface Exchange extends ReceivedRequest {
  credential: KnownCredential | undefined
  /** The version that words the answer: the current version until another one is resolved. */
  answerVersion: VersionTable
  route: ApiRoute | undefined
  /** Undefined until a bucket was asked. */
  allowance: Allowance | undefined
  /** The body as sent, in the caller's version. */
  body: unknown
  /** Whether the handler was reached: its refusals use the names of the canonical version. */
  reached: boolean
  /** Error code of the answer. */
  refusal: ErrorCode | undefined
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

/** A request that the stages before the handler have accepted, with what they found. */
export interface ApiCall extends ReceivedRequest, RequestParameters, RequestBody {
  readonly credential: KnownCredential
  readonly version: VersionTable
  readonly route: ApiRoute
  readonly allowance: Allowance
}

/** An answer of success, or a stored one, in the form of the canonical version. */
export interface WrittenReply {
  readonly status: number
  readonly body: unknown
  /** The body as JSON, where it has been written already. */
  readonly text: string | undefined
  readonly replayed: boolean
}

/** The caller, as the canonical version shows it. */
export function callerOf({ credential, version }: ApiCall): Caller {
  const { tenant, space, environment, key } = credential
  return { tenant, space, environment, key, version: version.name }
}

/** The environment's database on behalf of the caller. */
export function databaseOf({ credential }: ApiCall, { database }: ApiService): Transactions {
  return database.forTenant(credential.tenant.id)
}

/** The requests of one environment: those under way, and what became of the others. */
export interface Traffic {
  /** Why a new request is to be refused; undefined when there is room. */
  overload(): string | undefined
  /** Whether requests of the tenant are to be refused: too many wait for the database, and too many of those are the tenant's. */
  crowdedBy(tenantId: string): boolean
  enter(exchange: Exchange): void
  /** After the last thing that was done for a request, answered or not. */
  leave(exchange: Exchange): void
  /** A request is being answered. */
  answered(exchange: Exchange, status: number): void
  /** The database could not do what a request needed. */
  databaseFailed(error: unknown): void
  readonly underWay: ReadonlySet<Exchange>
  tallies(): Iterable<OperationTally>
  /** Requests refused for the load, by reason. */
  readonly shed: ReadonlyMap<string, number>
  /** Refusals for want of a token or a slot, by bucket. */
  readonly limited: ReadonlyMap<string, number>
  /** Clients that went away before their answer. */
  aborted(): number
  /** Requests whose answer took too long. */
  expired(): number
  /** Ends the sweep. */
  stop(): void
}

export interface RequestLog {
  /** A request is being answered. @param text the answer's body; undefined where there is none. */
  note(exchange: Exchange, status: number, text: string | undefined): void
  /** Writes what has been noted. What could not be written while the database is away is kept; either is thrown at. */
  flush(): Promise<void>
  /** Writes at the stop what is left. */
  stop(): Promise<void>
  /** Bytes, about, of what is noted and not written yet. */
  waitingBytes(): number
  /** Requests that were left out so far, by why. */
  readonly dropped: ReadonlyMap<Dropped, number>
}

/** What was answered of one operation. Plain numbers that are read when metrics are: counting must cost next to nothing. */
export interface OperationTally {
  readonly environment: Environment
  /** Empty where no operation was found. */
  readonly operation: string
  readonly version: string
  readonly statuses: Map<number, number>
  /** How many took so long: one number for each of `DURATIONS_MS`, and one for longer. Not cumulated. */
  readonly durations: number[]
  totalMs: number
}

/** More than a tenant may have noted between two flushes; more than a process holds; or nothing that the database takes. */
export type Dropped = 'tenant' | 'full' | 'refused'
