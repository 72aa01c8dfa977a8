/** A read is its handler. A write is one transaction of the idempotency claim, the handler, and what is written with the commit. */

import type { Database } from '../database/database.ts'
import { codeOf, constraintOf, isWorthRepeating, UNIQUE_VIOLATION } from '../database/errors.ts'
import { isSpaceWiped } from '../tenants/audit/queries.ts'
import type { KnownCredential } from '../tenants/keys/credential-queries.ts'
import { authenticateSandbox } from './access.ts'
import type { RequestTurn } from './capacity.ts'
import { createContext, createInput, Effects, type HandlerInput } from './context.ts'
import { ApiError, notImplemented } from './errors/errors.ts'
import { type ApiCall, type ApiService, databaseOf, type WrittenReply } from './exchange.ts'
import type { Handler, Pause, PrepareContext, StoredForm } from './handler.ts'
import { ANSWERED_ALREADY, claim, claimOf, replayStored } from './idempotency.ts'
import { enqueueRefusal, enqueueSuccess, type Write } from './outcome.ts'

/**
 * Has the operation's handler do what is asked for.
 *
 * @param authenticateCaller finds the credential again, for a write in a space that was wiped meanwhile.
 */
export function perform(
  call: ApiCall,
  turn: RequestTurn,
  service: ApiService,
  authenticateCaller: () => Promise<KnownCredential>,
): Promise<WrittenReply> {
  const { handler, write: rules } = call.route
  if (!handler) notImplemented()
  if (!rules) return read(call, service, handler)
  return write({ call, turn, service, handler, rules }, authenticateCaller)
}

/** A read is its handler alone. */
async function read(call: ApiCall, service: ApiService, handler: Handler): Promise<WrittenReply> {
  const input = createInput(call)
  const context = createContext(call, service, databaseOf(call, service), input.query)
  const { status, body } = await handler(context, input as never)
  return { status, body, text: undefined, replayed: false }
}

/** A write with what its handler gets: the same for every transaction that is begun for it. */
interface WriteWork extends Write {
  readonly turn: RequestTurn
  readonly handler: Handler
  readonly input: HandlerInput
}

/** Has the handler write, or gives the stored response of the request that this one repeats. */
async function write(
  given: Omit<WriteWork, 'claimed' | 'input'>,
  authenticateCaller: () => Promise<KnownCredential>,
): Promise<WrittenReply> {
  const { call, handler } = given
  // First the claim: its fingerprint is of what was sent, and translations may change that.
  const claimed = claimOf(call)
  let work = { ...given, claimed, input: createInput(call) }
  for (;;) {
    try {
      const reply = await writeOnce(work)
      return handler.stored && reply.replayed ? await complete(reply, handler.stored, work) : reply
    } catch (error) {
      if (!isSpaceWiped(error)) throw error
      work = { ...work, call: { ...call, credential: await authenticateCaller() } }
    }
  }
}

async function writeOnce(work: WriteWork): Promise<WrittenReply> {
  const { call, service, handler, rules, claimed, input } = work
  let ready: unknown
  let effects = new Effects()
  let due: Promise<boolean> | undefined
  const attempt = async (db: Database, isRetry: boolean): Promise<WrittenReply | Pause<unknown>> => {
    effects = new Effects()
    due = undefined
    const context = createContext(call, service, db, input.query, effects, ready, isRetry)
    const hasPaused = handler.pause !== undefined && ready !== undefined
    const claiming = claimed && claim(db, service, call, claimed, hasPaused)
    const prefetched = handler.prefetch?.(context, input as never)
    prefetched?.catch(() => {}) // the transaction fails with it
    const stored = await claiming
    if (stored) return stored
    const pause = hasPaused ? undefined : await handler.pause?.(context, input as never, prefetched)
    if (pause) return pause
    const { status, body } = await handler(context, input as never, prefetched)
    const text = JSON.stringify(body)
    const storedText = handler.stored ? JSON.stringify(handler.stored.leaveOut(body)) : text
    due = enqueueSuccess({ ...work, db }, effects, { status, text: storedText, body })
    due.catch(() => {}) // not waited for: it travels with the COMMIT, which fails with it
    return { status, body, text, replayed: false }
  }
  try {
    if (handler.prepare) ready = await handler.prepare(contextBetween(work), input as never)
    const { transaction } = rules.account
      ? service.account.forTenant(call.credential.tenant.id)
      : databaseOf(call, service)
    const run = () => withRetries((isRetry) => transaction((db) => attempt(db, isRetry)))
    let reply = await run()
    while (typeof reply === 'function') {
      const pause = reply
      ready = await work.turn.leave(() => pause(contextBetween(work)))
      reply = await run()
    }
    if ((await due) || effects.hasDeliveries) service.deliveriesDue(call.credential.space)
    if (effects.newSpace !== undefined) leaveSpace(service)
    return reply
  } catch (error) {
    if (claimed && isAnsweredAlready(error)) return replayStored(service, call, claimed)
    if (!(error instanceof ApiError) || error.type === 'idempotency_error') throw error
    return storeRefusal(work, error)
  }
}

/** What is given to what waits outside of the request's transactions. */
function contextBetween({ call, service, input }: WriteWork): PrepareContext {
  const context = createContext(call, service, databaseOf(call, service), input.query)
  const { destinations, log } = service
  const { pin, verified: isVerified } = call.credential
  const { transaction } = databaseOf(call, service)
  const afterwards = (work: Promise<unknown>) => {
    work.catch((err) => log.warn({ err }, 'what goes on after an answer has failed'))
  }
  const openSandbox = async () => {
    const { tenant, space } = await authenticateSandbox(call, service)
    return { db: service.sandbox.forTenant(tenant.id), space }
  }
  return { ...context, destinations, pin, isVerified, openSandbox, transaction, afterwards }
}

/** A stored response with what was left out of it; refusals are stored as they are. */
async function complete(
  reply: WrittenReply,
  form: StoredForm<unknown>,
  { call, service }: WriteWork,
): Promise<WrittenReply> {
  if (reply.status >= 400) return reply
  const body = await form.putBack(service.database, call.credential.space, JSON.parse(reply.text!))
  return { ...reply, body, text: JSON.stringify(body) }
}

/** This node looks where the tenant's data is now before it answers; the others do soon. The worker that deletes the old data notifies them again. */
function leaveSpace({ keyring, account, log }: ApiService): void {
  keyring.forget()
  account
    .notifyNodes()
    .catch((err) =>
      log.warn({ err }, 'other nodes could not be notified of a wipe; its worker notifies them'),
    )
}

/** How often a transaction is begun that the database ends to free others, or that others have overtaken. */
const MAX_ATTEMPTS = 3

async function withRetries<T>(attempt: (isRetry: boolean) => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt(count > 1)
    } catch (error) {
      if (!isWorthRepeating(error) || count === MAX_ATTEMPTS) throw error
    }
  }
}

function isAnsweredAlready(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION && constraintOf(error) === ANSWERED_ALREADY
}

/**
 * A handler's refusal has undone its work; what remains to be written is that it was refused. Throws the refusal, or
 * gives the response that another request has stored meanwhile.
 */
async function storeRefusal(work: WriteWork, error: ApiError): Promise<WrittenReply> {
  const { call, service, claimed } = work
  try {
    // Its wait for the end of the chain must not be on a connection that others share.
    await databaseOf(call, service).transaction(async (db) => enqueueRefusal({ ...work, db }, error))
  } catch (conflict) {
    if (!claimed || !isAnsweredAlready(conflict)) throw conflict
    return replayStored(service, call, claimed)
  }
  throw error
}
