/**
 * The settlement clock of a tenant: the service clock, and in the sandbox what the tenant has moved it ahead. Cut-offs, what follows
 * on them, the holds of cards and of payout destinations go by it, and nothing else. Times in milliseconds since the epoch.
 */
import type { Database, Statement } from '../platform/database/database.ts'
import { inSteps } from '../platform/database/steps.ts'

const READ: Statement = {
  name: 'settlement_clocks_read',
  text: 'SELECT c.offset_ms FROM settlement_clocks c WHERE c.tenant_id = $1',
}

/** How far the tenant's settlement clock is ahead of the service clock, in milliseconds. */
export async function readClockOffset(db: Database, space: string): Promise<number> {
  return (await db.query<{ offset_ms: number }>(READ, [space])).rows[0]?.offset_ms ?? 0
}

const LOCK: Statement = {
  name: 'settlement_clocks_lock',
  text: `INSERT INTO settlement_clocks AS c (tenant_id, offset_ms) VALUES ($1, 0)
         ON CONFLICT (tenant_id) DO UPDATE SET offset_ms = c.offset_ms RETURNING offset_ms`,
}

/** The same as nobody else can change it before the end of the transaction; no settlement of the tenant moves meanwhile. */
export async function lockClock(db: Database, space: string): Promise<number> {
  return (await db.query<{ offset_ms: number }>(LOCK, [space])).rows[0]!.offset_ms
}

const MOVE: Statement = {
  name: 'settlement_clocks_move',
  text: 'UPDATE settlement_clocks SET offset_ms = $2 WHERE tenant_id = $1',
}

/** Moves a clock that `lockClock` holds. @param offset in whole milliseconds, no less than before. */
export function moveClock(db: Database, space: string, offset: number): Promise<unknown> {
  return db.query(MOVE, [space, offset])
}

/** Rows that are due at a time by the settlement clock. */
export interface DueRows {
  /** Of the statement. */
  readonly name: string
  readonly table: string
  /** Tells the rows of a tenant apart. */
  readonly columns: string
  /** The time. Indexes of the table begin with it, and with the tenant and it. */
  readonly due: string
  readonly where?: string
}

/**
 * Finds rows of all tenants that are due: by the service clock `$1`, which no settlement clock is behind, and of the few tenants
 * whose clocks are ahead, by these; at most `$2` of each.
 */
export function dueStatement({
  name,
  table,
  columns,
  due,
  where = `r.${due} IS NOT NULL`,
}: DueRows): Statement {
  const listed = `r.tenant_id${columns === '' ? '' : `, r.${columns}`}`
  const first = `(SELECT ${listed} FROM ${table} r WHERE ${where} AND r.${due} <= $1 ORDER BY r.${due} LIMIT $2)`
  const until = `$1 + c.offset_ms * interval '1 millisecond'`
  const ahead = 'FROM settlement_clocks c'
  const joined = `SELECT ${listed} ${ahead} JOIN ${table} r ON r.tenant_id = c.tenant_id
     WHERE c.offset_ms > 0 AND ${where} AND r.${due} > $1 AND r.${due} <= ${until} LIMIT $2`
  // Bounds of an index by tenant, so that nobody's rows are read but those of these tenants.
  const walked = `SELECT ${listed} ${ahead} CROSS JOIN LATERAL (
      SELECT * FROM ${table} r WHERE ${where} AND r.tenant_id = c.tenant_id AND (r.tenant_id, r.${due}) > (c.tenant_id, $1) AND (r.tenant_id, r.${due}) <= (c.tenant_id, ${until}) LIMIT $2
    ) AS r WHERE c.offset_ms > 0 LIMIT $2`
  const both = (other: string) => `${first} UNION ALL (${other})`
  return { name, text: both(walked), steps: inSteps(name, both(joined)) }
}
