/** What checks look at, and how they fail. */
import type { Database } from '../../../runtime/database/database.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'
import type { BankPaymentMade } from '../bank.ts'
import type { Merchant } from '../merchant.ts'
import type { World } from '../world.ts'
import type { DeliveryStats } from './deliveries.ts'

/** A line of the log of any machine. */
export interface LogLine {
  /** As pino numbers them: 30 is `info`, 40 is `warn`, 50 is `error`. */
  readonly level: number
  readonly text: string
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
  /** How late polls are at most. */
  readonly lateMs: number
  /** Number of faults so far. Without faults, every event arrives exactly once. */
  readonly faults: number
}

export function fail(what: string): never {
  throw new Error(what)
}

/** Fails unless both values are the same JSON, with the keys in any order. */
export function mustEqual(found: unknown, wanted: unknown, what: string): void {
  const [one, other] = [sorted(found), sorted(wanted)]
  if (one !== other) fail(`${what} is ${one}, not ${other}`)
}

const sorted = (value: unknown): string =>
  JSON.stringify(value ?? null, (_, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )

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
