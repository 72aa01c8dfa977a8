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

type RequestParameters = Readonly<Record<string, unknown>>

/** A member for whom the console makes a request. */
export interface RequestingMember extends MemberName {
  /** Checks the fresh code that came with the member's form; given where the console wants one. False: missing or wrong. */
  readonly confirm?: () => Promise<boolean>
}

/**
 * One request, as far as it has come: what the stages have found is undefined until they have. There is one object for
 * each request, made with all its members; the types below say what is known of it after each stage, and the functions
 * below them are the only way from one type to the next.
 */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Who makes it, where the console has it made for a member: it needs no key. */
  readonly member: RequestingMember | undefined
  readonly requestId: string
  /** Milliseconds that never run backwards. */
  readonly beganAt: number
  /** Service time at which it came, milliseconds since the epoch. */
  readonly now: number
  /** Of the request target, undecoded. */
  readonly path: string
  /** Undecoded, without the question mark. */
  readonly search: string
  /** Of the client, as far as proxies are trusted. */
  readonly address: string
  readonly credential: KnownCredential | undefined
  readonly version: VersionTable | undefined
  /** In which an answer is worded: the current version until another is resolved. */
  readonly answerVersion: VersionTable
  readonly route: ApiRoute | undefined
  /** Values of the path's parameters, undecoded, in the order of the path. */
  readonly pathValues: readonly string[] | undefined
  /** What was taken from a bucket; undefined before anything was. */
  readonly allowance: Allowance | undefined
  readonly pathParameters: RequestParameters | undefined
  readonly query: RequestParameters | undefined
  readonly idempotencyKey: string | undefined
  /** As sent, in the caller's version; its translation may change it. */
  readonly body: unknown
  /** The body as sent, where it is translated. */
  sent: unknown
  /** Of a batch: validated one by one, valid ones in the form of the canonical version. */
  readonly items: readonly CheckedItem<unknown>[] | undefined
  /** Ends its turn among the tenant's requests; undefined before that has come. */
  readonly endTurn: (() => void) | undefined
  /** Whether the handler was reached: what it refuses is worded in names of the canonical version. */
  reached: boolean
  readonly reply: WrittenReply | undefined
  /** Code of the error that it was answered with. */
  refusal: ErrorCode | undefined
  /** Changes between its version and the newest that made a difference to it; undefined while there is none. */
  touched: Set<string> | undefined
}

/** An answer of success, or a stored one, in the form of the canonical version. */
export interface WrittenReply {
  readonly status: number
  readonly body: unknown
  /** The body as JSON, where it has been written already. */
  readonly text: string | undefined
  readonly replayed: boolean
}

declare const PASSED: unique symbol

/** Marks an exchange that passed a check which adds nothing to it; for the compiler alone. */
interface Passed<Check extends string> {
  readonly [PASSED]: { readonly [Name in Check]: true }
}

/** This process has room for it. */
export type Accepted = Exchange & Passed<'load'>
/** Neither its size nor its encoding is refused. */
export type Bounded = Accepted & Passed<'transport'>
/** Its key is known and in use here. */
export type Authenticated = Bounded & { readonly credential: KnownCredential }
/** Its tenant does not make the queue for the database too long. */
export type Uncrowded = Authenticated & Passed<'crowd'>
/** Its key may be used from where it comes, and belongs to a member who may develop. */
export type Trusted = Uncrowded & Passed<'holder'>
export type VersionedExchange = Trusted & { readonly version: VersionTable }
export type Routed = VersionedExchange & { readonly route: ApiRoute; readonly pathValues: readonly string[] }
/** A bucket was asked for it: it can be answered. */
export type Metered = Exchange & { readonly allowance: Allowance }
/** It may be made at this moment. */
export type Allowed = Routed & Metered
/** It stands in the tenant's usage. */
export type CountedExchange = Allowed & Passed<'usage'>
/** Its key may call the operation. */
export type Authorized = CountedExchange & Passed<'operation'>
export type Addressed = Authorized & {
  readonly pathParameters: RequestParameters
  readonly query: RequestParameters
}
/** All of it fits what the caller's version describes. */
export type Parsed = Addressed & Passed<'body'>
/** With a second factor where one is needed. */
export type Confirmed = Parsed & Passed<'factor'>
/** Its turn among the tenant's requests has come. */
export type Admitted = Confirmed & Passed<'turn'>
export type Performed = Admitted & { readonly reply: WrittenReply }
export type AnsweredExchange = Performed & Passed<'answer'>

// Each adds to the object that it gets, and gives it under the type that says so: no stage can claim what it has not found.

/** A check is passed that adds nothing. */
export function pass<Found extends Exchange, Check extends string>(
  exchange: Found,
  _check: Check,
): Found & Passed<Check> {
  return exchange as Found & Passed<Check>
}

export function withCredential(exchange: Bounded, credential: KnownCredential): Authenticated {
  const known: Writable<Exchange> = exchange
  known.credential = credential
  return exchange as Authenticated
}

/** What is refused from now on is worded in this version too. */
export function withVersion(exchange: Trusted, version: VersionTable): VersionedExchange {
  const known: Writable<Exchange> = exchange
  known.version = version
  known.answerVersion = version
  return exchange as VersionedExchange
}

export function withRoute(
  exchange: VersionedExchange,
  route: ApiRoute,
  pathValues: readonly string[],
): Routed {
  const known: Writable<Exchange> = exchange
  known.route = route
  known.pathValues = pathValues
  return exchange as Routed
}

export function withAllowance<Found extends Exchange>(
  exchange: Found,
  allowance: Allowance,
): Found & Metered {
  const known: Writable<Exchange> = exchange
  known.allowance = allowance
  return exchange as Found & Metered
}

export function withParameters(
  exchange: Authorized,
  pathParameters: RequestParameters,
  query: RequestParameters,
  idempotencyKey: string | undefined,
): Addressed {
  const known: Writable<Exchange> = exchange
  known.pathParameters = pathParameters
  known.query = query
  known.idempotencyKey = idempotencyKey
  return exchange as Addressed
}

/** @param body undefined where there is none. @param items of a batch. */
export function withBody(
  exchange: Addressed,
  body: unknown,
  items?: readonly CheckedItem<unknown>[],
): Parsed {
  const known: Writable<Exchange> = exchange
  known.body = body
  known.items = items
  return pass(exchange, 'body')
}

/** @param endTurn undefined where it takes none. */
export function withTurn(exchange: Confirmed, endTurn: (() => void) | undefined): Admitted {
  const known: Writable<Exchange> = exchange
  known.endTurn = endTurn
  return pass(exchange, 'turn')
}

export function withReply(exchange: Admitted, reply: WrittenReply): Performed {
  const known: Writable<Exchange> = exchange
  known.reply = reply
  return exchange as Performed
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/**
 * A stage of the pipeline: takes what the one before it has found and gives what is known after it, the same object. It
 * throws an `ApiError` to end the request; only what has to wait gives a promise.
 */
export type Stage<Found extends Exchange, Next extends Found> = (
  found: Found,
  service: ApiService,
) => Next | Promise<Next>

/** Stages in the order in which a request goes through them: with one left out, or in another order, they do not compile. */
export interface Stages<Found extends Exchange> {
  readonly list: readonly ((exchange: Exchange, service: ApiService) => unknown)[]
  // A property, whose parameter is compared strictly: so stages that end earlier are no pipeline.
  readonly step: <Next extends Found>(stage: Stage<Found, Next>) => Stages<Next>
}

/** @example createStages().step(shedLoad).step(limitTransport) // the other way round does not compile */
export function createStages(): Stages<Exchange> {
  return append<Exchange>([])
}

function append<Found extends Exchange>(list: Stages<Found>['list']): Stages<Found> {
  return {
    list,
    step: <Next extends Found>(stage: Stage<Found, Next>) =>
      append<Next>([...list, stage as Stages<Next>['list'][number]]),
  }
}

/** Whether anything was taken from a bucket for the request. */
export function isMetered(exchange: Exchange): exchange is Metered {
  return exchange.allowance !== undefined
}

/** The caller, as the canonical version shows it. */
export function callerOf({ credential, version }: VersionedExchange): Caller {
  const { tenant, space, environment, key } = credential
  return { tenant, space, environment, key, version: version.name }
}

/** The environment's database on behalf of the caller. */
export function databaseOf({ credential }: Authenticated, { database }: ApiService): Transactions {
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
