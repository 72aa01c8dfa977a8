import type { Context, Reply } from '../contract.ts'
import type { Database } from '../platform/database/database.ts'

/** Where tenants may have something sent to. */
export interface Destinations {
  /** What is wrong with the address, as prose after its name; undefined when nothing is. Bounded in time. */
  check(url: string): Promise<string | undefined>
}

/** What a handler may use before its transaction. */
export interface PrepareContext extends Context {
  readonly destinations: Destinations
}

/** A handler that waits for something other than its database, which must not happen while it holds a connection and locks. */
export interface PreparedHandler<Input, Answer extends Reply> {
  (context: Context, input: Input, ahead?: unknown): Promise<Answer>
  /** Before the transaction, and before the idempotency claim: it has no effects, and its context's database is the pool. */
  prepare(context: PrepareContext, input: Input): Promise<unknown>
  /** What it reads and locks first: sent with the claim, so also where that ends the request. It writes nothing. */
  ahead?(context: Context, input: Input): Promise<unknown>
}

/** Joins what is asked before the transaction, and first thing in it, with the handler that gets the answers. */
export function prepared<Input, Ready, Ahead, Answer extends Reply>(
  prepare: (context: PrepareContext, input: Input) => Promise<Ready>,
  handle: (context: Context, input: Input, ready: Ready, ahead: Promise<Ahead>) => Promise<Answer>,
  ahead?: (context: Context, input: Input) => Promise<Ahead>,
): PreparedHandler<Input, Answer> {
  const handler = (context: Context, input: Input, asked?: unknown) =>
    handle(context, input, context.prepared as Ready, asked as Promise<Ahead>)
  return Object.assign(handler, { prepare, ...(ahead && { ahead }) })
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
