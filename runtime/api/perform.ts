import type { Environment } from '../contract.ts'
import { appendEvents } from '../events/queries.ts'
import type { AuditEntry } from '../platform/audit/entry.ts'
import { appendAudit, appendAuditIn, isSpaceWiped } from '../platform/audit/queries.ts'
import type { Database } from '../platform/database/database.ts'
import {
  codeOf,
  constraintOf,
  DEADLOCK_DETECTED,
  SERIALIZATION_FAILURE,
  UNIQUE_VIOLATION,
} from '../platform/database/errors.ts'
import { ENVIRONMENTS } from '../platform/database/migrate/roles.ts'
import { newId } from '../platform/ids.ts'
import { plainAddress } from './address.ts'
import { authenticateAgain } from './authenticate.ts'
import { createContext, createInput } from './context.ts'
import { ApiError, describeError, notImplemented } from './errors.ts'
import { databaseOf, type Exchange, type Service, type WrittenReply } from './exchange.ts'
import { type ClaimedKey, claim, claimOf, isKept, keepBody, replayStanding } from './idempotency.ts'
import { ANSWERED_ALREADY } from './idempotency-queries.ts'
import { appendOutcome } from './outcomes.ts'
import type { KeptForm } from './prepared.ts'
import type { Handler } from './routes.ts'

/** Steps 12 to 16: claim, translation to head, handler, audit, stored answer and commit. A read is its handler alone. */
export async function perform(exchange: Exchange, service: Service): Promise<void> {
  const { handler, writes } = exchange.route!
  if (!handler) notImplemented()
  exchange.reached = true
  exchange.reply = writes ? await write(exchange, service, handler) : await read(exchange, service, handler)
}

async function read(exchange: Exchange, service: Service, handler: Handler): Promise<WrittenReply> {
  const input = createInput(exchange)
  const { status, body } = await handler(
    createContext(exchange, service, databaseOf(exchange, service), input.query),
    input as never,
  )
  return { status, body, text: undefined, replayed: false }
}

async function write(exchange: Exchange, service: Service, handler: Handler): Promise<WrittenReply> {
  const claimed = claimOf(exchange)
  const input = createInput(exchange)
  for (;;) {
    try {
      const reply = await writeOnce(exchange, service, handler, claimed, input)
      return handler.kept && reply.replayed ? await makeWhole(reply, handler.kept, exchange, service) : reply
    } catch (error) {
      if (!isSpaceWiped(error)) throw error
      await authenticateAgain(exchange, service)
    }
  }
}

async function writeOnce(
  exchange: Exchange,
  service: Service,
  handler: Handler,
  claimed: ClaimedKey | undefined,
  input: ReturnType<typeof createInput>,
): Promise<WrittenReply> {
  let ready: unknown
  let due: Promise<boolean> | undefined
  const work = async (db: Database): Promise<WrittenReply> => {
    exchange.notes = []
    exchange.events = []
    exchange.newSpace = undefined
    exchange.deliveriesDue = false
    const context = createContext(exchange, service, db, input.query, ready)
    const claiming = claimed && claim(db, service, exchange, claimed)
    const ahead = handler.ahead?.(context, input as never)
    ahead?.catch(() => {}) // the transaction fails with it
    const standing = await claiming
    if (standing) return standing
    const { status, body } = await handler(context, input as never, ahead)
    const text = JSON.stringify(body)
    const kept = handler.kept ? JSON.stringify(handler.kept.leaveOut(body)) : text
    const outcome = { status, text: kept, targetId: idOf(body), outcome: 'succeeded' } as const
    due = keepAll(db, service, exchange, claimed, outcome)
    due.catch(() => {}) // not waited for: it travels with the COMMIT, which fails with it
    return { status, body, text, replayed: false }
  }
  try {
    if (handler.prepare) {
      const context = createContext(exchange, service, databaseOf(exchange, service), input.query)
      ready = await handler.prepare(service.outside, input as never, context)
    }
    const { transaction } = exchange.route!.changesAccount
      ? service.account.forTenant(exchange.credential!.tenant.id)
      : databaseOf(exchange, service)
    const reply = await withRetries(() => transaction(work))
    if ((await due) || exchange.deliveriesDue) service.deliveriesDue(exchange.credential!.space)
    if (exchange.newSpace !== undefined) leaveSpace(service)
    return reply
  } catch (error) {
    if (claimed && isAnsweredAlready(error)) return replayStanding(service, exchange, claimed)
    if (!(error instanceof ApiError) || error.type === 'idempotency_error') throw error
    return keepRefusal(exchange, service, claimed, error)
  }
}

/** A stored answer with what was left out of it; refusals are kept as they are. */
async function makeWhole(
  reply: WrittenReply,
  kept: KeptForm<unknown>,
  { credential }: Exchange,
  { database }: Service,
): Promise<WrittenReply> {
  if (reply.status >= 400) return reply
  const body = await kept.putBack(database, credential!.space, JSON.parse(reply.text!))
  return { ...reply, body, text: JSON.stringify(body) }
}

/** This node looks where the tenant's data is now before it answers; the others do soon. Workers tell them again. */
function leaveSpace({ keyring, account, log }: Service): void {
  keyring.forget()
  account
    .spread()
    .catch((err) => log.warn({ err }, 'a wipe could not be told to other nodes; its worker tells them'))
}

/** How often a transaction is begun that the database ends to free others. */
const MOST_ATTEMPTS = 3

async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await attempt()
    } catch (error) {
      const code = codeOf(error)
      const again = code === DEADLOCK_DETECTED || code === SERIALIZATION_FAILURE
      if (!again || count === MOST_ATTEMPTS) throw error
    }
  }
}

function isAnsweredAlready(error: unknown): boolean {
  return codeOf(error) === UNIQUE_VIOLATION && constraintOf(error) === ANSWERED_ALREADY
}

/**
 * A handler's refusal has undone its work; what remains to be written is that it was refused. Throws the refusal, or
 * gives the answer that another request has stored meanwhile.
 */
async function keepRefusal(
  exchange: Exchange,
  service: Service,
  claimed: ClaimedKey | undefined,
  error: ApiError,
): Promise<WrittenReply> {
  const answer = {
    status: error.status,
    text: JSON.stringify(describeError(error, exchange.requestId)),
    targetId: null,
    outcome: 'failed',
  } as const
  const kept = isKept(error) ? claimed : undefined
  try {
    // Its wait for the end of the chain must not be on a connection that others share.
    await databaseOf(exchange, service).transaction(
      async (db) => void keep(db, service, exchange, kept, answer, []),
    )
  } catch (conflict) {
    if (!claimed || !isAnsweredAlready(conflict)) throw conflict
    return replayStanding(service, exchange, claimed)
  }
  throw error
}

interface Outcome {
  readonly status: number
  /** Body of the answer in the form of head: of success, or the error object. */
  readonly text: string
  readonly targetId: string | null
  readonly outcome: AuditEntry['outcome']
}

/** Writes what follows on the handler's success; gives whether there may be deliveries to plan. */
function keepAll(
  db: Database,
  service: Service,
  exchange: Exchange,
  claimed: ClaimedKey | undefined,
  outcome: Outcome,
): Promise<boolean> {
  const { credential, events, notes, newSpace, route } = exchange
  if (notes.length === 0 && newSpace === undefined && !route!.concernsAccount) {
    return keep(db, service, exchange, claimed, outcome, events)
  }
  const due = appendEvents(db, credential!.space, events)
  keepNotes(db, service, exchange)
  if (route!.concernsAccount) keepInBoth(db, service, exchange)
  else keep(db, service, exchange, claimed, outcome, [])
  return due
}

/** Writes the events, the audit entry, and the answer under the claimed key: last, because the end of the chain stays locked. */
function keep(
  db: Database,
  service: Service,
  exchange: Exchange,
  claimed: ClaimedKey | undefined,
  { status, text, targetId, outcome }: Outcome,
  events: Exchange['events'],
): Promise<boolean> {
  const { route, pathParameters } = exchange
  const { tenant, space } = exchange.credential!
  const entry: AuditEntry = {
    ...entryOf(exchange, service.environment),
    action: route!.action,
    targetId: nameOf(pathParameters[route!.pathNames[0] ?? '']) ?? targetId,
    outcome,
  }
  const answer = claimed && {
    key: claimed.key,
    fingerprint: claimed.fingerprint,
    status,
    body: keepBody(service, tenant.id, claimed, text),
    head: service.versions.current.name,
  }
  return appendOutcome(db, exchange.newSpace ?? space, entry, answer, events)
}

const nameOf = (value: unknown): string | undefined => (value === undefined ? undefined : String(value))

/** What a request's entries have in common. */
function entryOf(exchange: Exchange, environment: Environment) {
  const { credential, now, address, requestId, version } = exchange
  return {
    id: newId('aud', now),
    environment,
    actorType: 'key',
    actorId: credential!.key.id,
    requestId,
    ip: plainAddress(address),
    version: version.name,
    created: now,
  } as const
}

/** One entry for each thing that the handler noted. */
function keepNotes(db: Database, { environment }: Service, exchange: Exchange): void {
  for (const { action, targetId } of exchange.notes) {
    const entry = { ...entryOf(exchange, environment), action, targetId, outcome: 'succeeded' } as const
    appendAudit(db, exchange.credential!.space, entry)
  }
}

/**
 * What concerns the whole account, in the logs of both environments, each by its own clock. Always in the same order, so
 * that two such transactions cannot wait for each other.
 */
function keepInBoth(db: Database, { clock }: Service, exchange: Exchange): void {
  const { credential, route } = exchange
  for (const environment of ENVIRONMENTS) {
    const created = clock.service(environment)
    const entry = {
      ...entryOf(exchange, environment),
      id: newId('aud', created),
      created,
      environment: null,
      action: route!.action,
      targetId: credential!.tenant.id,
      outcome: 'succeeded',
    } as const
    appendAuditIn(db, environment, credential!.tenant.id, entry)
  }
}

function idOf(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('id' in body)) return null
  return typeof body.id === 'string' ? body.id : null
}
