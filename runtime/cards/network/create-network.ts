/** Accepts messages of the card network: finds the card, runs the transactions, and turns failures into answers. */
import type { Logger } from 'pino'
import { ApiError } from '../../api/errors/errors.ts'
import { DatabaseUnavailable, isWorthRepeating } from '../../database/errors.ts'
import type { OpenDatabase } from '../../database/open/open-database.ts'
import { readSpace } from '../../database/space.ts'
import { collectEvents } from '../../events/emit/emit.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import type { Outbound } from '../../events/outbound/outbound.ts'
import { timeIn } from '../../money/settlement-lines/clock.ts'
import type { Rates } from '../../money/settlement-lines/interchange.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Seals } from '../../platform/secrets.ts'
import { type AuditEntry, systemEntry } from '../../tenants/audit/entry.ts'
import { isSpaceWiped } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { TenantFactsCache } from '../../tenants/keys/tenant-facts.ts'
import { runInSpan, type Tracer } from '../../tracing/span.ts'
import type { CardKeys } from '../card-keys/card-keys.ts'
import { moveChargeback } from './chargebacks.ts'
import { authorize, increment, inquireBalance } from './deciding.ts'
import { recordException } from './exceptions.ts'
import { MessageException, type NetworkExchange, type NetworkPlace, TooLate } from './exchange.ts'
import { advise, clear, refund, reverse } from './following.ts'
import {
  type CardDirectory,
  isDecided,
  type Network,
  type NetworkMessages,
  unavailableAnswer,
} from './network.ts'
import { changeToken } from './tokens.ts'

/** Messages about a card. */
type CardKind = Exclude<keyof NetworkMessages, 'echo'>

type Accept<Kind extends CardKind> = (exchange: NetworkExchange<Kind>) => Promise<NetworkMessages[Kind][1]>

const ACCEPT: { readonly [Kind in CardKind]: Accept<Kind> } = {
  authorize,
  increment,
  inquireBalance,
  advise,
  reverse,
  clear,
  refund,
  moveChargeback,
  changeToken,
}

export interface NetworkParts {
  readonly database: Pick<OpenDatabase, 'control' | Environment>
  readonly clock: Clock
  readonly log: Logger
  /** Absent: messages are not traced. */
  readonly tracer?: Tracer | undefined
  readonly rates: Rates
  readonly seals: Seals
  /** Sends questions to authorization endpoints. */
  readonly outbound: Readonly<Record<Environment, Pick<Outbound, 'post'>>>
  readonly wakeUpChannel: Pick<WakeUpChannel, 'publish'>
  readonly cards: CardDirectory
  readonly tenants: Pick<TenantFactsCache, 'find'>
  /** Digest of a card number, by which exceptions name the card. */
  readonly digest: CardKeys['digest']
}

/** Maximum number of attempts of a transaction that conflicts with another one. */
const MAX_ATTEMPTS = 3

/** Time that the last transaction gets after the tenant's endpoint was asked, in milliseconds. */
const RESERVE_MS = 300

export function createNetwork(parts: NetworkParts): Network {
  return {
    exchange(environment, kind, message, deadline) {
      const attributes = { 'svc.environment': environment }
      const span = parts.tracer?.receive({}, { name: `card message ${kind}`, kind: 'server', attributes })
      return runInSpan(span, async () => {
        try {
          return await accept(parts, environment, kind, message, deadline)
        } catch (error) {
          return explainFailure(parts, environment, kind, message, error)
        }
      })
    },
  }
}

async function accept<Kind extends keyof NetworkMessages>(
  parts: NetworkParts,
  environment: Environment,
  kind: Kind,
  message: NetworkMessages[Kind][0],
  deadline: number,
): Promise<NetworkMessages[Kind][1]> {
  if (!('card_number' in message)) {
    await parts.database[environment].query({ text: 'SELECT 1' })
    return { message_id: message.message_id, outcome: 'applied' }
  }
  const card = await parts.cards.find(environment, message.card_number)
  if (!card) throw new MessageException('unknown_card', 'No card has this number.', 'card_number')
  const { tenantId } = readSpace(card.space)
  const tenant = await parts.tenants.find(tenantId, environment)
  if (!tenant) throw new MessageException('unknown_card', 'The tenant of the card is gone.', 'card_number')
  const { clock, outbound, seals, log, wakeUpChannel } = parts
  const pool = parts.database[environment].forTenant(tenantId)
  const machineNow = clock.machine()
  const now = await timeIn(pool, card.space, clock.service(environment))

  const attempt = async <T>(work: (place: NetworkPlace) => Promise<T>, isRetry: boolean): Promise<T> => {
    let due: Promise<boolean> | undefined
    const value = await pool.transaction(async (db) => {
      const { space } = card
      const events = collectEvents({ tenantId: space, pin: tenant.pin, now })
      const entries: AuditEntry[] = []
      const done = (action: string, targetId: string) =>
        void entries.push(systemEntry(environment, action, targetId, now))
      const result = await work({ db, space, events, now, machineNow, isRetry, rates: parts.rates, done })
      due = events.writeWith(db, entries, parts.database[environment].distributed)
      due.catch(() => {}) // pipelined with the COMMIT, which fails with the same error
      if (performance.now() >= deadline) throw new TooLate('The deadline passed before the commit.')
      return result
    })
    if (await due) wakeUpChannel.publish(environment, card.space)
    return value
  }
  const transact: NetworkExchange<CardKind>['transact'] = async (work) => {
    for (let count = 1; ; count += 1) {
      try {
        return await attempt(work, count > 1)
      } catch (error) {
        if (!isWorthRepeating(error) || count === MAX_ATTEMPTS || performance.now() >= deadline) throw error
      }
    }
  }
  const exchange = {
    ...card,
    environment,
    message,
    asksTenant: tenant.plan === 'enterprise',
    transact,
    get asking() {
      return {
        caller: { environment, space: card.space },
        now,
        machineNow,
        seals,
        pin: tenant.pin,
        destinations: outbound[environment],
        transaction: pool.transaction,
        afterwards: (work: Promise<unknown>) => {
          work.catch((err) =>
            log.warn({ err }, 'the late answer of an authorization endpoint was not stored'),
          )
        },
        limitMs: Math.max(0, deadline - performance.now() - RESERVE_MS),
      }
    },
  }
  const handle = ACCEPT[kind as CardKind] as Accept<CardKind>
  return handle(exchange as NetworkExchange<CardKind>)
}

/** Answers a message that could not take effect, and records it as an exception if it never can. */
async function explainFailure<Kind extends keyof NetworkMessages>(
  { database, clock, log, digest }: NetworkParts,
  environment: Environment,
  kind: Kind,
  message: NetworkMessages[Kind][0],
  error: unknown,
): Promise<NetworkMessages[Kind][1]> {
  const { message_id } = message
  // Live is never wiped: the tenant is moving to a different installation, and the network can ask again.
  if (environment === 'live' && isSpaceWiped(error)) return unavailableAnswer(kind, message_id)
  const exception = readException(error)
  if (!exception) {
    const isExpected = error instanceof TooLate || error instanceof DatabaseUnavailable
    if (isExpected) log.debug({ err: error, kind }, 'a message of the card network was not accepted in time')
    else log.error({ err: error, kind }, 'a message of the card network failed')
    return unavailableAnswer(kind, message_id)
  }
  const { reason, message: detail, field } = exception
  if (isDecided(kind)) return { message_id, decision: 'declined', decline_reason: declineOf(reason) }
  try {
    const recorded = { environment, reason, detail, field, kind, message }
    await recordException(database.control, digest, recorded, clock.machine())
    return { message_id, outcome: 'exception', reason }
  } catch (err) {
    log.warn(
      { err, kind },
      'an exception of the card network was not recorded; the network repeats the message',
    )
    return unavailableAnswer(kind, message_id)
  }
}

const declineOf = (reason: MessageException['reason']): string =>
  reason === 'unknown_card' ? 'unknown_card' : 'processing_error'

/** Returns why a message can never take effect; undefined if it can be repeated. */
export function readException(error: unknown): MessageException | undefined {
  if (error instanceof MessageException) return error
  if (isSpaceWiped(error)) return new MessageException('unknown_card', 'The card was deleted.', 'card_number')
  if (!(error instanceof ApiError)) return undefined
  // While a request with the same question waits for the tenant's endpoint.
  if (error.type === 'idempotency_error') return undefined
  const isBound = error.type === 'invalid_request'
  return new MessageException(
    isBound ? 'beyond_bounds' : 'not_allowed',
    error.message,
    isBound ? 'amount' : undefined,
  )
}
