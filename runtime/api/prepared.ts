import type { Context, Reply } from '../contract.ts'
import type { Database } from '../platform/database/database.ts'

/** What a handler may ask for before its transaction begins. */
export interface Outside {
  readonly destinations: Destinations
}

/** Judges where tenants want something sent to. */
export interface Destinations {
  /** What is wrong with the address, as prose after its name; undefined when nothing is. Bounded in time. */
  judge(url: string): Promise<string | undefined>
}

/** A handler that waits for something outside, which must not happen while it holds a connection and locks. */
export interface PreparedHandler<Input, Answer extends Reply> {
  (context: Context, input: Input, ahead?: unknown): Promise<Answer>
  /** Before the transaction, and before the idempotency claim: it has no effects, and its context's database is the pool. */
  prepare(outside: Outside, input: Input, context: Context): Promise<unknown>
  /** What it reads and locks first: sent with the claim, so also where that ends the request. It writes nothing. */
  ahead?(context: Context, input: Input): Promise<unknown>
}

/** Joins what is asked outside, and ahead in its transaction, with the handler that gets the answers. */
export function prepared<Input, Ready, Ahead, Answer extends Reply>(
  prepare: (outside: Outside, input: Input, context: Context) => Promise<Ready>,
  handle: (context: Context, input: Input, ready: Ready, ahead: Promise<Ahead>) => Promise<Answer>,
  ahead?: (context: Context, input: Input) => Promise<Ahead>,
): PreparedHandler<Input, Answer> {
  const handler = (context: Context, input: Input, asked?: unknown) =>
    handle(context, input, context.prepared as Ready, asked as Promise<Ahead>)
  return Object.assign(handler, { prepare, ...(ahead && { ahead }) })
}

/** How an answer is kept for those who repeat the request, where the database has part of it elsewhere. */
export interface KeptForm<Body> {
  /** The answer without that part; its members keep their order. */
  leaveOut(body: Body): unknown
  /** The answer as it was, of what `leaveOut` has left. May change its argument. */
  putBack(db: Database, space: string, kept: Body): Promise<unknown>
}

/** A handler whose answers are kept in another form than they are sent. */
export function keeping<Handle extends (context: Context, input: never) => Promise<Reply>>(
  kept: KeptForm<never>,
  handler: Handle,
): Handle {
  return Object.assign(handler, { kept })
}
