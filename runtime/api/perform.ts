/** Performs an operation. A read only calls its handler. A write is one transaction: claim, handler, and outcome. */

import type { Database } from '../database/database.ts'
import { codeOf, constraintOf, isWorthRepeating, UNIQUE_VIOLATION } from '../database/errors.ts'
import { timeIn } from '../money/settlement-lines/clock.ts'
import { isSpaceWiped } from '../tenants/audit/queries.ts'
import type { KnownCredential } from '../tenants/keys/credential-queries.ts'
import { authenticateOther } from './access.ts'
import type { RequestTurn } from './capacity.ts'
import { createContext, createInput, Effects, type HandlerInput } from './context.ts'
import { ApiError, notImplemented } from './errors/errors.ts'
import { type ApiCall, type ApiService, databaseOf, type WrittenReply } from './exchange.ts'
import type { Handler, Pause, PrepareContext, StoredForm } from './handler.ts'
import { ANSWERED_ALREADY, claim, claimOf, replayStored } from './idempotency.ts'
import { enqueueRefusal, enqueueSuccess, type Write } from './outcome.ts'
import type { ApiRoute } from './version-table.ts'

/**
 * Calls the operation's handler.
 *
 * @param authenticateCaller reads the credential again, for a write whose space was wiped during the request.
 */
export async function perform(
  received: ApiCall,
  turn: RequestTurn,
  service: ApiService,
  authenticateCaller: () => Promise<KnownCredential>,
): Promise<WrittenReply> {
  const { handler, write: rules } = received.route
  if (!handler) notImplemented()
  const { space } = received.credential
  const call = { ...received, time: await timeIn(databaseOf(received, service), space, received.now) }
  if (!rules) return read(call, service, handler)
  if (call.member?.isDryRun) return dryRun(call, service, handler)
  return write({ call, turn, service, handler, rules }, authenticateCaller)
}

async function read(call: ApiCall, service: ApiService, handler: Handler): Promise<WrittenReply> {
  const input = createInput(call)
  const context = createContext(call, service, databaseOf(call, service), input.query)
  const { status, body } = await handler(context, input as never)
  return { status, body, text: undefined, replayed: false }
}

/** Returns why an operation cannot be performed in a transaction that is rolled back; undefined if it can. */
export function dryRunObstacle({ operation, handler, write: rules }: ApiRoute): string | undefined {
  if (operation.stream) return 'its answer is a stream'
  if (!rules) return undefined
  if (operation.method === 'GET') return 'each read is recorded in the audit log'
  if (rules.account) return 'it changes the account'
  if (rules.sensitive) return 'its response contains a secret'
  return handler?.prepare || handler?.pause ? 'it contacts other systems' : undefined
}

const ROLLED_BACK = Symbol('rolled back')

/** Performs a write without its outcome: no idempotency claim, no event, no audit entry, and no commit. */
async function dryRun(call: ApiCall, service: ApiService, handler: Handler): Promise<WrittenReply> {
  const obstacle = dryRunObstacle(call.route)
  if (obstacle !== undefined) throw new Error(`${call.route.operation.id} cannot be rolled back: ${obstacle}`)
  const input = createInput(call)
  let reply: WrittenReply | undefined
  try {
    await databaseOf(call, service).transaction(async (db) => {
      const context = createContext(call, service, db, input.query, new Effects())
      const prefetched = handler.prefetch?.(context, input as never)
      prefetched?.catch(() => {}) // the transaction fails with the same error
      const { status, body } = await handler(context, input as never, prefetched)
      reply = { status, body, text: undefined, replayed: false }
      throw ROLLED_BACK
    })
  } catch (error) {
    if (error !== ROLLED_BACK) throw error
  }
  return reply!
}

/** A write, with the input of its handler. The same for every transaction of the request. */
interface WriteWork extends Write {
  readonly turn: RequestTurn
  readonly handler: Handler
  readonly input: HandlerInput
}

/** Performs a write, or returns the stored response if the request is a repetition. */
async function write(
  given: Omit<WriteWork, 'claimed' | 'input'>,
  authenticateCaller: () => Promise<KnownCredential>,
): Promise<WrittenReply> {
  const { call, handler } = given
  // Claim first: the fingerprint covers the request as sent, which translations may mutate.
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
    prefetched?.catch(() => {}) // the transaction fails with the same error
    const stored = await claiming
    if (stored) return stored
    const pause = hasPaused ? undefined : await handler.pause?.(context, input as never, prefetched)
    if (pause) return pause
    const { status, body } = await handler(context, input as never, prefetched)
    const text = JSON.stringify(body)
    const storedText = handler.stored ? JSON.stringify(handler.stored.leaveOut(body)) : text
    due = enqueueSuccess({ ...work, db }, effects, { status, text: storedText, body })
    due.catch(() => {}) // pipelined with the COMMIT, which fails with the same error
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
    if (effects.changesCredentials) service.keyring.forget()
    return reply
  } catch (error) {
    if (claimed && isAnsweredAlready(error)) return replayStored(service, call, claimed)
    if (!(error instanceof ApiError) || error.type === 'idempotency_error') throw error
    return storeRefusal(work, error)
  }
}

/** Returns the context for hooks that wait outside the request's transactions. */
function contextBetween({ call, service, input }: WriteWork): PrepareContext {
  const context = createContext(call, service, databaseOf(call, service), input.query)
  const { destinations, log } = service
  const { pin, verified: isVerified } = call.credential
  const { transaction } = databaseOf(call, service)
  const afterwards = (work: Promise<unknown>) => {
    work.catch((err) => log.warn({ err }, 'work after a response failed'))
  }
  const openSandbox = async () => {
    const { tenant, space } = await authenticateOther('sandbox', call, service)
    return { db: service.sandbox.forTenant(tenant.id), space }
  }
  const requireLive = () => authenticateOther('live', call, service)
  return { ...context, destinations, pin, isVerified, openSandbox, requireLive, transaction, afterwards }
}

/** Restores the parts that were left out of a stored response. Refusals are stored complete. */
async function complete(
  reply: WrittenReply,
  form: StoredForm<unknown>,
  { call, service }: WriteWork,
): Promise<WrittenReply> {
  if (reply.status >= 400) return reply
  const body = await form.putBack(service.database, call.credential.space, JSON.parse(reply.text!))
  return { ...reply, body, text: JSON.stringify(body) }
}

/** Makes this node look up the tenant's space again before it answers, and notifies the other nodes. */
function leaveSpace({ keyring, account, log }: ApiService): void {
  keyring.forget()
  account
    .notifyNodes()
    .catch((err) =>
      log.warn({ err }, 'other nodes not notified of a wipe; the wipe worker notifies them later'),
    )
}

/**
 * Maximum number of attempts of a transaction that fails because of a deadlock, a serialization conflict or an
 * overtaken check.
 */
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
 * Records that the request was refused. The refusal itself has rolled back the handler's work. Throws the refusal, or
 * returns the response that a concurrent request stored.
 */
async function storeRefusal(work: WriteWork, error: ApiError): Promise<WrittenReply> {
  const { call, service, claimed } = work
  try {
    // A separate connection: waiting for the end of the audit log must not block requests that share a connection.
    await databaseOf(call, service).transaction(async (db) => enqueueRefusal({ ...work, db }, error))
  } catch (conflict) {
    if (!claimed || !isAnsweredAlready(conflict)) throw conflict
    return replayStored(service, call, claimed)
  }
  throw error
}
