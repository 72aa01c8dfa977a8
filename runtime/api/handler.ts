/** What a handler is, and what it is given beside its input. */

import type { Reply } from 'dateline/runtime'
import type { CardKeys } from '../cards/card-keys/card-keys.ts'
import type { CardEncryption } from '../cards/provisioning/encryption/encryption.ts'
import type { Sanctions } from '../cards/sanctions/list-in-use.ts'
import type { Database } from '../database/database.ts'
import type { EmittedEvent, NewEvent } from '../events/emit/queries.ts'
import type { StreamStart } from '../events/emit/streams.ts'
import type { OutboundPost, OutboundResult } from '../events/outbound/outbound.ts'
import type { UsdcChain } from '../money/chain/usdc-chains.ts'
import type { Rates } from '../money/settlement-lines/amounts.ts'
import type { Wallet } from '../passes/wallets/render/google/signer.ts'
import type { PassTokens } from '../passes/wallets/render/pass-tokens.ts'
import type { Seals } from '../platform/secrets.ts'
import type { ReportLinks } from '../tenants/addresses/report-links.ts'
import type { Caller } from '../tenants/keys/caller.ts'
import type { AccountActions } from './account.ts'
import type { Cursors } from './lists/cursors.ts'

/** What a handler may use. Times are service time, in milliseconds since the epoch. */
export interface Context {
  readonly caller: Caller
  readonly request: RequestFacts
  /** The environment's database: inside the request's transaction for writes, a pool for reads. */
  readonly db: Database
  /** Makes and reads pagination cursors bound to this request. */
  readonly cursors: Cursors
  readonly links: Links
  readonly events: RequestEvents
  readonly audit: RequestAudit
  readonly account: AccountActions
  readonly endpointSecrets: EndpointSecrets
  readonly seals: Seals
  readonly cardKeys: CardKeys
  readonly cardEncryption: CardEncryption
  readonly sanctions: Pick<Sanctions, 'list'>
  /** States of the United States in which cardholders may live, in live. */
  readonly licensedStates: ReadonlySet<string>
  readonly usdcChain: UsdcChain
  /** What the network shares and takes of clearings. */
  readonly rates: Rates
  /** What the handler's `prepare` or its pause gave; undefined where there was none. */
  readonly prepared: unknown
  /** Whether the database has undone the request before: what it came too late for then is better locked early. */
  readonly isRetry: boolean
}

/** What is known of the request itself. */
export interface RequestFacts {
  readonly id: string
  /** The version that it is answered in; handlers keep it for what is written later, and know the newest alone. */
  readonly version: string
  /** When it came, by the service clock. */
  readonly now: number
  /** Machine time, which decides about leases. */
  readonly machineNow: number
  /** A header that the operation declares, as it was sent. */
  header(name: string): string | undefined
}

/** What addresses are made of that the service answers with. */
export interface Links {
  /** Origin of this environment's API, without a slash at the end. */
  readonly baseUrl: string
  readonly wallet: Wallet
  readonly passTokens: PassTokens
  readonly reports: ReportLinks
}

/** Events of the caller's tenant, as its request sees and makes them. */
export interface RequestEvents {
  /** Types that the caller's version knows. */
  readonly types: ReadonlySet<string>
  /** Records an event, to be written with what the handler writes. Typed by `emit` of events/emit/emit.ts: call that. */
  emit(event: NewEvent): EmittedEvent | undefined
  /** Deliveries were put into the queue: they are looked for as soon as this is committed. */
  deliverSoon(): void
  /** Server-sent events of the types that the caller's version knows, until the client goes or its key is revoked. */
  stream(after: StreamStart): AsyncIterable<string>
}

/** An entry in the audit log for one of several things that a request did, before the request's own. */
export interface FurtherEntry {
  /** The resource and what was done to it: `key.rotated`. */
  readonly action: string
  readonly targetId: string
}

/** The audit log, as a request writes it beside its own entry. */
export interface RequestAudit {
  add(entry: FurtherEntry): void
}

/** Secrets of webhook endpoints: whoever has one can sign as the service. */
export interface EndpointSecrets {
  /** A new one: what the tenant sees once, and what is stored. */
  make(tenantId: string, endpointId: string): { readonly secret: string; readonly sealed: Buffer }
}

/** Any handler, as the pipeline calls it: the generated interfaces say what each really takes. */
export interface Handler {
  (context: Context, input: never, prefetched?: unknown): Promise<Reply>
  /** What it asks before its transaction begins. */
  readonly prepare?: (context: PrepareContext, input: never) => Promise<unknown>
  /** What it asks of its transaction while that claims the key. */
  readonly prefetch?: (context: Context, input: never) => Promise<unknown>
  /** What it has to wait for, where that shows in its transaction only. */
  readonly pause?: (
    context: Context,
    input: never,
    prefetched?: unknown,
  ) => Promise<Pause<unknown> | undefined>
  /** How its answers are stored, where that is not how they are sent. */
  readonly stored?: StoredForm<unknown>
}

/** Where tenants may have something sent to. */
export interface Destinations {
  /** What is wrong with the address, as prose after its name; undefined when nothing is. Bounded in time. */
  check(url: string): Promise<string | undefined>
  /** One POST, within ten seconds; redirects are answers too. */
  post(request: OutboundPost): Promise<OutboundResult>
}

/** Where a tenant's data of the sandbox is, for reading. */
export interface Sandbox {
  readonly db: Database
  /** The `tenant_id` of its rows. */
  readonly space: string
}

/** What a handler may use before its transaction. */
export interface PrepareContext extends Context {
  readonly destinations: Destinations
  /** What the tenant is pinned to in the environment. */
  readonly pin: string | null
  /** Whether the tenant's business is verified. */
  readonly isVerified: boolean
  /** The tenant's sandbox, by the key in `Service-Sandbox-Authorization`. Rejects with an `ApiError` where that is refused. */
  openSandbox(): Promise<Sandbox>
  /**
   * A transaction of its own, which is over before the request's begins. What it writes stays where the process dies, so the
   * repetition of the request has to find it.
   */
  transaction<T>(work: (db: Database) => Promise<T>): Promise<T>
  /** Goes on after the answer; a failure is logged. */
  afterwards(work: Promise<unknown>): void
}

/** A handler that waits for something other than its database, which must not happen while it holds a connection and locks. */
export interface PreparedHandler<Input, Answer extends Reply> {
  (context: Context, input: Input, prefetched?: unknown): Promise<Answer>
  /** Before the transaction, and before the idempotency claim; its context's database is the pool. */
  prepare(context: PrepareContext, input: Input): Promise<unknown>
  /** What it reads and locks first: sent with the claim, so also where that ends the request. It writes nothing. */
  prefetch?(context: Context, input: Input): Promise<unknown>
}

/** A wait between two transactions of one request: the first is committed, and neither a connection nor a lock is held. */
export type Pause<Ready> = (context: PrepareContext) => Promise<Ready>

/** A handler that finds in its transaction that it has to wait for something other than its database. */
export interface PausingHandler<Input, Answer extends Reply> {
  (context: Context, input: Input, prefetched?: unknown): Promise<Answer>
  /** As of a `PreparedHandler`. */
  prefetch(context: Context, input: Input): Promise<unknown>
  /**
   * Undefined: the handler goes on at once. Otherwise what it has written is committed, without an answer to the request, and
   * another transaction begins after the wait; what is written has to be found by a repetition of the request.
   */
  pause(context: Context, input: Input, prefetched?: unknown): Promise<Pause<unknown> | undefined>
}

/** Joins what is read and locked first, what may have to be waited for, and the handler that gets both. */
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

/** Joins what is asked before the transaction, and first thing in it, with the handler that gets the answers. */
export function prepared<Input, Ready, Prefetched, Answer extends Reply>(
  prepare: (context: PrepareContext, input: Input) => Promise<Ready>,
  handle: (context: Context, input: Input, ready: Ready, prefetched: Promise<Prefetched>) => Promise<Answer>,
  prefetch?: (context: Context, input: Input) => Promise<Prefetched>,
): PreparedHandler<Input, Answer> {
  const handler = (context: Context, input: Input, asked?: unknown) =>
    handle(context, input, context.prepared as Ready, asked as Promise<Prefetched>)
  return Object.assign(handler, { prepare, ...(prefetch && { prefetch }) })
}

/** How an answer is stored for those who repeat the request, where the database has part of it elsewhere. */
export interface StoredForm<Body> {
  /** The answer without that part; its members keep their order. */
  leaveOut(body: Body): unknown
  /** The answer as it was, of what `leaveOut` has left. May change its argument. */
  putBack(db: Database, space: string, stored: Body): Promise<unknown>
}

/** A handler whose answers are stored in another form than they are sent. */
export function storing<Handle extends (context: Context, input: never) => Promise<Reply>>(
  stored: StoredForm<never>,
  handler: Handle,
): Handle {
  return Object.assign(handler, { stored })
}
