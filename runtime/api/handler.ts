/**
 * Handlers of operations, and the context that they get.
 *
 * A handler is a function with up to four optional hooks. Two hooks are needed for correctness, because a request
 * must not hold a database connection or a lock while it waits for anything other than the database:
 *
 * - `prepare` runs before the transaction: a signature, the check of a URL, a test call to an endpoint.
 * - `pause` waits between two transactions, if only the first one shows that there is something to wait for.
 *
 * Two hooks save work. The table shows the CPU time per request without the hook (`npm run bench:checkouts`, median
 * of 9 rounds):
 *
 * | hook | operation | service | database |
 * |---|---|---|---|
 * | `prefetch` | POST of a pass | +7 % | +10 % |
 * | `prefetch` | POST of 20 passes | +3 % | +13 % |
 * | `stored` | POST of a pass | +14 % | +15 % |
 * | `stored` | POST of 20 passes | +4 % | +26 % |
 */

import type { Behaviour, Reply } from 'dateline/runtime'
import type { versions } from '../../generated/versions.ts'
import type { CardVault } from '../cards/card-keys/vault.ts'
import type { CardEncryption } from '../cards/provisioning/encryption/encryption.ts'
import type { Sanctions } from '../cards/sanctions/list-in-use.ts'
import type { Database } from '../database/database.ts'
import type { EmittedEvent, NewEvent } from '../events/emit/queries.ts'
import type { StreamStart } from '../events/emit/streams.ts'
import type { OutboundPost, OutboundResult } from '../events/outbound/outbound.ts'
import type { UsdcChain } from '../money/chain/usdc-chains.ts'
import type { Rates } from '../money/settlement-lines/interchange.ts'
import type { Wallet } from '../passes/wallets/render/google/signer.ts'
import type { PassTokens } from '../passes/wallets/render/pass-tokens.ts'
import type { Seals } from '../platform/secrets.ts'
import type { ReportLinks } from '../tenants/addresses/report-links.ts'
import type { Faults } from '../tenants/faults/faults.ts'
import type { Caller } from '../tenants/keys/caller.ts'
import type { AccountActions } from './account.ts'
import type { Cursors } from './lists/cursors.ts'

/** Names of the behavior that differs between versions. */
export type BehaviourName = keyof NonNullable<(typeof versions)[number]['behaviour']>

/** Everything that a handler may use. Times are service time, in milliseconds since the epoch. */
export interface Context {
  readonly caller: Caller
  readonly request: RequestFacts
  /** What the caller's version does. The names come from the changes in `versions/`. */
  readonly behaviour: Behaviour<BehaviourName>
  /** The environment's database: inside the request's transaction for writes, a pool for reads. */
  readonly db: Database
  /** Writes and reads pagination cursors that are bound to this request. */
  readonly cursors: Cursors
  readonly links: Links
  readonly events: RequestEvents
  readonly audit: RequestAudit
  readonly account: AccountActions
  readonly endpointSecrets: EndpointSecrets
  readonly seals: Seals
  readonly vault: CardVault
  readonly cardEncryption: CardEncryption
  readonly sanctions: Pick<Sanctions, 'list'>
  /** US states in which cardholders in live may reside. */
  readonly licensedStates: ReadonlySet<string>
  /** Whether the pass type certificate has Apple's entitlement for NFC. */
  readonly passNfc: boolean
  readonly usdcChain: UsdcChain
  /** Fees and shares of the card network for clearings. */
  readonly rates: Rates
  /** Failures that are simulated in the sandbox. */
  readonly faults: Faults | undefined
  /** The reason with which a simulated authorization is declined on purpose. */
  readonly injectedDecline: Faults['decline_reason'] | undefined
  /** Result of the handler's `prepare` or `pause`; undefined if it has neither. */
  readonly prepared: unknown
  /**
   * Whether the database aborted an earlier attempt. A handler then locks rows early that it found changed too late.
   */
  readonly isRetry: boolean
}

export interface RequestFacts {
  readonly id: string
  /**
   * The caller's version. Handlers use it only to store it for later rendering: they know only the canonical version.
   */
  readonly version: string
  /** Service time of arrival, in the space of the caller. */
  readonly now: number
  /** Machine time in milliseconds, by which leases are checked. */
  readonly machineNow: number
  /** Returns a header that the operation declares, in canonical form. */
  header(name: string): string | undefined
}

/** Base URL and tokens for links in answers. */
export interface Links {
  /** Origin of this environment's API, without a trailing slash. */
  readonly baseUrl: string
  readonly wallet: Wallet
  readonly passTokens: PassTokens
  readonly reports: ReportLinks
}

export interface RequestEvents {
  readonly types: ReadonlySet<string>
  /**
   * Records an event, which is written with the transaction. Call the typed `emit` of events/emit/emit.ts instead.
   */
  emit(event: NewEvent): EmittedEvent | undefined
  /** Wakes the workers after the commit, because the handler queued deliveries. */
  deliverSoon(): void
  /**
   * Streams events of the types that the caller's version has, until the client disconnects or the key is revoked.
   */
  stream(after: StreamStart): AsyncIterable<string>
}

/** An additional audit entry, for one of several actions of a request. It precedes the request's own entry. */
export interface FurtherEntry {
  /** The resource and the action, such as `key.rotated`. */
  readonly action: string
  readonly targetId: string
}

/** Adds entries to the audit log, in addition to the request's own. */
export interface RequestAudit {
  add(entry: FurtherEntry): void
}

/** Secrets of webhook endpoints, which sign requests of the service. */
export interface EndpointSecrets {
  /** Creates a secret: `secret` is shown to the tenant once, `sealed` is stored. */
  make(
    tenantId: string,
    endpointId: string,
    signature?: 'service' | 'standard_webhooks',
  ): { readonly secret: string; readonly sealed: Buffer }
}

/** A handler as the pipeline calls it. The generated interfaces have the exact types. */
export interface Handler {
  (context: Context, input: never, prefetched?: unknown): Promise<Reply>
  /** See `PreparedHandler`. */
  readonly prepare?: (context: PrepareContext, input: never) => Promise<unknown>
  /** See `PreparedHandler`. */
  readonly prefetch?: (context: Context, input: never) => Promise<unknown>
  /** See `PausingHandler`. */
  readonly pause?: (
    context: Context,
    input: never,
    prefetched?: unknown,
  ) => Promise<Pause<unknown> | undefined>
  /** How its answers are stored, if they are not stored as sent. */
  readonly stored?: StoredForm<unknown>
}

/** Sends requests to URLs of tenants. */
export interface Destinations {
  /**
   * Resolves with the fault of the URL, as text that follows a field name; undefined if it is acceptable. Takes at
   * most 1.5 s.
   */
  check(url: string): Promise<string | undefined>
  /** Sends one POST within 10 s. Redirects are not followed. */
  post(request: OutboundPost): Promise<OutboundResult>
}

export interface Sandbox {
  readonly db: Database
  /** `tenant_id` of the tenant's rows. */
  readonly space: string
}

/** Everything that a handler may use before its transaction. */
export interface PrepareContext extends Context {
  readonly destinations: Destinations
  /** The version that the tenant is pinned to in the environment. */
  readonly pin: string | null
  readonly isVerified: boolean
  /**
   * Opens the tenant's sandbox with the key in `Service-Sandbox-Authorization`. Rejects with an `ApiError` if it is
   * refused.
   */
  openSandbox(): Promise<Sandbox>
  /**
   * Checks the key in `Service-Live-Authorization`, for a request to the sandbox that also reads live. Rejects with an
   * `ApiError` if it is refused.
   */
  requireLive(): Promise<unknown>
  /**
   * Runs a separate transaction, which ends before the request's own begins. Its writes remain if the process dies,
   * so a repeated request must be able to find them.
   */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>
  /** Lets work continue after the answer. If it fails, the failure is logged. */
  afterwards(work: Promise<unknown>): void
}

/** A handler that waits for an external system before its transaction, while it holds no connection or lock. */
export interface PreparedHandler<Input, Answer extends Reply> {
  (context: Context, input: Input, prefetched?: unknown): Promise<Answer>
  /** Runs before the transaction and the idempotency claim. The context's database is the pool. */
  prepare(context: PrepareContext, input: Input): Promise<unknown>
  /**
   * Starts the first reads and locks together with the claim, so it also runs if the claim ends the request. Must not
   * write.
   */
  prefetch?(context: Context, input: Input): Promise<unknown>
}

/**
 * A wait between two transactions of one request. The first is committed, and the request holds no connection or
 * lock.
 */
export type Pause<Ready> = (context: PrepareContext) => Promise<Ready>

/** A handler that may find in its transaction that it must wait for an external system. */
export interface PausingHandler<Input, Answer extends Reply> {
  (context: Context, input: Input, prefetched?: unknown): Promise<Answer>
  /** See `PreparedHandler`. */
  prefetch(context: Context, input: Input): Promise<unknown>
  /**
   * Returns undefined if the handler can continue immediately. Otherwise the pipeline commits what was written,
   * without answering the request, waits, and begins a second transaction. A repeated request must be able to find
   * what the first transaction wrote.
   */
  pause(context: Context, input: Input, prefetched?: unknown): Promise<Pause<unknown> | undefined>
}

/** Combines `prefetch`, `pause` and a handler that gets their results. */
export function pausing<Input, Prefetched, Ready, Answer extends Reply>(
  prefetch: (context: Context, input: Input) => Promise<Prefetched>,
  pause: (
    context: Context,
    input: Input,
    prefetched: Promise<Prefetched>,
  ) => Promise<Pause<Ready> | undefined>,
  handle: (
    context: Context,
    input: Input,
    ready: Ready | undefined,
    prefetched: Promise<Prefetched>,
  ) => Promise<Answer>,
): PausingHandler<Input, Answer> {
  const handler = (context: Context, input: Input, asked?: unknown) =>
    handle(context, input, context.prepared as Ready | undefined, asked as Promise<Prefetched>)
  const pauses = (context: Context, input: Input, asked?: unknown) =>
    pause(context, input, asked as Promise<Prefetched>)
  return Object.assign(handler, { prefetch, pause: pauses })
}

/** Combines `prepare`, `prefetch` and a handler that gets their results. */
export function prepared<Input, Ready, Prefetched, Answer extends Reply>(
  prepare: (context: PrepareContext, input: Input) => Promise<Ready>,
  handle: (context: Context, input: Input, ready: Ready, prefetched: Promise<Prefetched>) => Promise<Answer>,
  prefetch?: (context: Context, input: Input) => Promise<Prefetched>,
): PreparedHandler<Input, Answer> {
  const handler = (context: Context, input: Input, asked?: unknown) =>
    handle(context, input, context.prepared as Ready, asked as Promise<Prefetched>)
  return Object.assign(handler, { prepare, ...(prefetch && { prefetch }) })
}

/** How an answer is stored for repeated requests, if part of it is already in the database. */
export interface StoredForm<Body> {
  /** Returns the answer without that part. The order of the other members stays the same. */
  leaveOut(body: Body): unknown
  /** Restores the answer from what `leaveOut` returned. May change its argument. */
  putBack(db: Database, space: string, stored: Body): Promise<unknown>
}

/** Attaches a `StoredForm` to a handler. */
export function storing<Handle extends (context: Context, input: never) => Promise<Reply>>(
  stored: StoredForm<never>,
  handler: Handle,
): Handle {
  return Object.assign(handler, { stored })
}
