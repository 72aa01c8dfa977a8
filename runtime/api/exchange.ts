import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from 'pino'
import type {
  AuditNote,
  Caller,
  EndpointSecrets,
  Environment,
  EventStreams,
  Judged,
  Wallet,
} from '../contract.ts'
import type { RenderedEvent } from '../events/render.ts'
import type { Clock } from '../platform/clock/clock.ts'
import type { Pool, Transactions } from '../platform/database/pool/pool.ts'
import type { Factors } from '../platform/factors/factors.ts'
import type { Credential, Keyring } from '../platform/keys/keyring.ts'
import type { Allowance, RequestLimiter } from '../platform/limits/limiter.ts'
import type { Seals } from '../platform/secrets.ts'
import type { UsageMeter } from '../platform/usage/meter.ts'
import type { AccountDesk } from '../resources/account/changes.ts'
import type { ProxyTrust } from './address.ts'
import type { Admission } from './admission.ts'
import type { ErrorCode } from './errors.ts'
import type { Outside } from './prepared.ts'
import type { Route } from './routes.ts'
import type { Traffic } from './traffic.ts'
import type { Versions, VersionTable } from './versions.ts'

/** What the stages of one environment's API stand on. */
export interface Service {
  readonly environment: Environment
  readonly database: Pool
  readonly account: AccountDesk
  readonly seals: Seals
  readonly factors: Factors
  /** Absent: nothing is counted. */
  readonly usage?: UsageMeter | undefined
  readonly clock: Clock
  readonly keyring: Keyring
  readonly limiter: RequestLimiter
  /** Of this process: everybody's requests share its event loop. */
  readonly admission: Admission
  readonly wallet: Wallet
  readonly outside: Outside
  readonly endpointSecrets: EndpointSecrets
  readonly streams: EventStreams
  /** How many streams each tenant has open on this node. */
  readonly openStreams: Map<string, number>
  /** Deliveries are due: whoever makes them had better look. */
  readonly deliveriesDue: (tenantId: string) => void
  readonly versions: Versions
  /** Key of the cursors' MAC. */
  readonly cursorKey: string
  readonly proxies: ProxyTrust
  /** How long a body may take to arrive, in milliseconds. */
  readonly bodyMs: number
  /** Origins, without a slash at the end. */
  readonly baseUrl: string
  readonly consoleUrl: string
  readonly log: Logger
  /** Absent: nothing is counted, shed or timed. */
  readonly traffic?: Traffic | undefined
}

/** One request on its way; each stage fills in what it is named for. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** Milliseconds that never run backwards. */
  readonly beganAt: number
  /** Service time at which it came, milliseconds since the epoch. */
  readonly now: number
  readonly path: string
  /** Undecoded, without the question mark. */
  readonly search: string
  /** Of the client, as far as proxies are trusted. */
  readonly address: string
  credential: Credential | undefined
  /** The current one until another is resolved. */
  version: VersionTable
  route: Route | undefined
  /** What was taken from a bucket; undefined before anything was. */
  allowance: Allowance | undefined
  pathParameters: Record<string, unknown>
  query: Record<string, unknown>
  idempotencyKey: string | undefined
  /** As sent, in the caller's version. */
  body: unknown
  /** Of a batch: judged, valid ones in the form of head. */
  items: Judged<unknown>[] | undefined
  /** Ends its turn among the tenant's requests; undefined before that has come. */
  leave: (() => void) | undefined
  /** Whether the handler was reached: what it refuses is worded in head's names. */
  reached: boolean
  reply: WrittenReply | undefined
  /** Code of the error that it was answered with. */
  refusal: ErrorCode | undefined
  /** What the handler did beside what its operation is called. */
  notes: AuditNote[]
  /** What happened by it, in the version that the tenant is pinned to. */
  events: RenderedEvent[]
  /** The tenant's new space, when the handler wiped the old one. */
  newSpace: string | undefined
  /** It put deliveries into the queue beside those of its events. */
  deliveriesDue: boolean
}

/** An answer of success, or a stored one, in the form of head. */
export interface WrittenReply {
  readonly status: number
  readonly body: unknown
  /** The body as JSON in the form of head, where it has been written already. */
  readonly text: string | undefined
  readonly replayed: boolean
}

/** One step of the pipeline. It throws an `ApiError` to end the request; only what has to wait gives a promise. */
export type Stage = (exchange: Exchange, service: Service) => void | Promise<void>

/** The caller, known after the stages of authentication and version. */
export function callerOf(exchange: Exchange): Caller {
  const { credential, version } = exchange
  if (!credential) throw new Error('the caller is asked for before authentication')
  const { tenant, space, environment, key } = credential
  return { tenant, space, environment, key, version: version.name }
}

/** The environment's database on behalf of the caller. */
export function databaseOf({ credential }: Exchange, { database }: Service): Transactions {
  return database.forTenant(credential!.tenant.id)
}
