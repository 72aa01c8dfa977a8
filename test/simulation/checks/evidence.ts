/** What checks look at. */
import type { Database } from '../../../runtime/database/database.ts'
import type { WorkerStats } from '../../../runtime/events/delivery/worker.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import type { QueueWorkerStats } from '../../../runtime/work/queue-worker.ts'
import type { BankPaymentMade } from '../bank.ts'
import type { Merchant } from '../merchant.ts'
import type { World } from '../world.ts'

/** A line of the log of any machine. */
export interface LogLine {
  /** As pino numbers them: 30 is `info`, 40 is `warn`, 50 is `error`. */
  readonly level: number
  readonly text: string
  /** The payout that it is about. */
  readonly payout?: string | undefined
  /** Milliseconds since the epoch. */
  readonly at: number
}

export interface Evidence extends Pick<World, 'authorizers' | 'blocks' | 'google' | 'receivers' | 'wallets'> {
  readonly db: Database
  readonly merchants: readonly Merchant[]
  readonly logs: readonly LogLine[]
  readonly payments: readonly BankPaymentMade[]
  /** Milliseconds since the epoch. */
  readonly now: number
  /** When the universe began. */
  readonly started: number
  /** What the workers of deliveries have counted, if one machine has served all the time. */
  readonly stats: DeliveryStats | undefined
  /** How the turns of its other workers ended, if one machine has served all the time. */
  readonly turns: WorkerTurns | undefined
  /** How late polls are at most. */
  readonly lateMs: number
  /** How far the clocks of two machines differ at most. */
  readonly skewMs: number
  /** Number of faults so far. Without faults, every event arrives exactly once. */
  readonly faults: number
  /** Number of times that PostgreSQL has crashed. */
  readonly crashes: number
}

export async function read<Row>(db: Database, text: string, ...values: readonly unknown[]): Promise<Row[]> {
  return (await db.query<Row>({ text }, values)).rows
}

/** Reads the rows of a table that belong to a merchant. Instants are milliseconds since the epoch. */
export function rowsOf<Row>(
  { db }: Evidence,
  environment: Environment,
  { tenantId }: Merchant,
  table: string,
  order = 'id',
): Promise<Row[]> {
  return read(db, `SELECT * FROM ${environment}.${table} WHERE tenant_id = $1 ORDER BY ${order}`, tenantId)
}

/** An event as it is stored. */
export interface ToldEvent {
  readonly type: string
  /** JSON. */
  readonly body: string
  readonly created: number
}

/** Reads the events of a merchant in the sandbox, in order. */
export const sandboxEventsOf = (evidence: Evidence, merchant: Merchant): Promise<ToldEvent[]> =>
  rowsOf<ToldEvent>(evidence, 'sandbox', merchant, 'events', 'sequence')

/** How the turns of workers ended, by name and environment. */
export type WorkerTurns = Readonly<Record<string, Readonly<Partial<Record<Environment, QueueWorkerStats>>>>>

/** What a machine that never stopped has counted. */
export type DeliveryStats = Readonly<Record<'sandbox' | 'live', WorkerStats>>
