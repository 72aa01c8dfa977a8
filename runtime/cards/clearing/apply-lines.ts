/**
 * Applies lines of a clearing file to one tenant, many in one transaction. Each line takes the path of a single message; only
 * its statements are sent together with those of the other lines.
 */
import { isUnavailable, isWorthRepeating, liesInRows, reasonOf } from '../../database/errors.ts'
import { gatheringDatabase } from '../../database/gathering.ts'
import type { OpenDatabase } from '../../database/open/open-database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { readSpace } from '../../database/space.ts'
import { collectEvents } from '../../events/emit/emit.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import type { Rates } from '../../money/settlement-lines/interchange.ts'
import { writeManyLines } from '../../money/settlement-lines/lines.ts'
import type { OpenSettlement } from '../../money/settlement-lines/queries.ts'
import type { Environment } from '../../platform/environment.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { moveChargeback } from '../network/chargebacks.ts'
import { readException } from '../network/create-network.ts'
import type { ExceptionReason } from '../network/exceptions.ts'
import { type FactExchange, MessageException, type NetworkPlace } from '../network/exchange.ts'
import { clear, refund, reverse } from '../network/following.ts'
import type { FoundCard } from '../network/network.ts'
import type { ClearingKind, ClearingLine, LineMessage } from './records.ts'

export interface ApplyParts {
  readonly database: Pick<OpenDatabase, 'control' | Environment>
  readonly clock: Clock
  readonly rates: Rates
  readonly wakeUpChannel: Pick<WakeUpChannel, 'publish'>
}

/** The file that lines are from. */
export interface LineSource {
  readonly environment: Environment
  readonly fileId: string
  readonly businessDate: string
}

/** A line and the card that it is about. */
export interface LineOfCard extends ClearingLine, FoundCard {}

/** What became of a line: it took effect, or it is an exception. */
export type LineOutcome =
  | 'applied'
  | { readonly reason: ExceptionReason; readonly detail: string; readonly field?: string | undefined }

type Accept = (exchange: FactExchange<ClearingKind>) => Promise<{ readonly outcome: string }>

const ACCEPT = { clear, refund, reverse, moveChargeback } as const

const MOVES_MONEY: ReadonlySet<ClearingKind> = new Set(['clear', 'refund'])

/** Maximum number of attempts of a transaction that conflicts with another one. */
const MAX_ATTEMPTS = 5

/**
 * Applies lines of one tenant. If the transaction fails because of a line, halves of the lines are applied, until the line is
 * alone and becomes an exception. Throws if the database is unavailable.
 */
export async function applyLines(
  parts: ApplyParts,
  source: LineSource,
  lines: readonly LineOfCard[],
): Promise<ReadonlyMap<number, LineOutcome>> {
  try {
    return await applyTogether(parts, source, lines)
  } catch (error) {
    if (isUnavailable(error) || (!readException(error) && !liesInRows(error))) throw error
    const [only] = lines
    if (lines.length === 1 && only) return new Map([[only.line, outcomeOf(error)]])
    const half = Math.ceil(lines.length / 2)
    const first = await applyLines(parts, source, lines.slice(0, half))
    const second = await applyLines(parts, source, lines.slice(half))
    return new Map([...first, ...second])
  }
}

function outcomeOf(error: unknown): LineOutcome {
  const {
    reason,
    message: detail,
    field,
  } = readException(error) ?? {
    reason: 'failed' as const,
    message: reasonOf(error).replaceAll(/\d{12,}/g, '…'),
    field: undefined,
  }
  return { reason, detail, field }
}

async function applyTogether(
  parts: ApplyParts,
  source: LineSource,
  lines: readonly LineOfCard[],
): Promise<ReadonlyMap<number, LineOutcome>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await attemptTogether(parts, source, lines, attempt > 1)
    } catch (error) {
      if (!isWorthRepeating(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

async function attemptTogether(
  { database, clock, rates, wakeUpChannel }: ApplyParts,
  { environment, fileId, businessDate }: LineSource,
  lines: readonly LineOfCard[],
  isRetry: boolean,
): Promise<ReadonlyMap<number, LineOutcome>> {
  const { space } = lines[0]!
  const { tenantId } = readSpace(space)
  const pool = database[environment]
  const pin = await readPin(database.control, tenantId, environment)
  const [now, machineNow] = [clock.service(environment), clock.machine()]
  let due: Promise<boolean> | undefined
  const outcomes = await pool.forTenant(tenantId).transaction(async (tx) => {
    // On a distributed database, no statement can be for many: each line sends its own.
    const gathering = pool.distributed ? undefined : gatheringDatabase(tx)
    const events = collectEvents({ tenantId: space, pin, now })
    const place: NetworkPlace = {
      ...{ db: gathering ?? tx, space, events, now, machineNow, isRetry, rates, networkDate: businessDate },
      // One entry of the audit log is for all lines.
      done: () => {},
    }
    const apply = async (open?: OpenSettlement) => {
      const ends = await applyAll({ ...place, open }, environment, lines)
      gathering?.flush()
      return ends
    }
    const movesMoney = lines.some(({ content }) => MOVES_MONEY.has(content.kind))
    const applied = await (movesMoney ? writeManyLines({ db: tx, space, events }, now, apply) : apply())
    due = events.write(tx)
    due.catch(() => {}) // pipelined with the COMMIT, which fails with the same error
    pipelined(appendAudit(tx, space, systemEntry(environment, 'clearing_file.applied', fileId, now)))
    return applied
  })
  if (await due) wakeUpChannel.publish(environment, space)
  return outcomes
}

/** Applies lines of different card uses at once, and those of one use one after the other. */
async function applyAll(
  place: NetworkPlace,
  environment: Environment,
  lines: readonly LineOfCard[],
): Promise<ReadonlyMap<number, LineOutcome>> {
  const outcomes = new Map<number, LineOutcome>()
  const uses = Map.groupBy(lines, ({ content }) => content.message.transaction_id)
  await allEnded(
    [...uses.values()].map(async (ofUse) => {
      for (const line of ofUse) outcomes.set(line.line, await applyOne(place, environment, line))
    }),
  )
  return outcomes
}

/** Waits until all promises have settled, then throws a failure among them. */
export async function allEnded<T extends readonly unknown[] | []>(
  promises: T,
): Promise<{ -readonly [Place in keyof T]: Awaited<T[Place]> }> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}

async function applyOne(
  place: NetworkPlace,
  environment: Environment,
  { space, cardId, content, category }: LineOfCard,
): Promise<LineOutcome> {
  const transact: FactExchange<ClearingKind>['transact'] = (work) =>
    work({ ...place, interchangeCategory: category })
  try {
    const exchange = { environment, space, cardId, message: content.message, transact }
    const { outcome } = await acceptOf(content)(exchange)
    return outcome === 'applied' ? 'applied' : WAITING
  } catch (error) {
    // It is thrown before the line writes anything, so the other lines of the transaction can commit.
    if (error instanceof MessageException) return outcomeOf(error)
    throw error
  }
}

const WAITING: LineOutcome = {
  reason: 'waiting',
  detail: 'The clearing that the message refers to has not arrived.',
  field: 'transaction_id',
}

// The kind of the content selects the function for its message.
const acceptOf = ({ kind }: LineMessage): Accept => ACCEPT[kind] as Accept
