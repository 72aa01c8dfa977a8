import type { components } from '../../../generated/canonical/types.ts'
import type { Database, Statement } from '../../database/database.ts'
import { defineList } from '../../database/define-list.ts'
import { toTimestamp } from '../../database/types.ts'

type Schemas = components['schemas']

/** A stored promotion. `created` is service time of live, in milliseconds since the epoch. */
export interface PromotionRow {
  readonly id: string
  readonly resource_type: Schemas['PromotableType']
  readonly dry_run: boolean
  readonly plan: readonly Schemas['PromotionStep'][]
  readonly copies: readonly Schemas['PromotedObject'][]
  /** Digests of the sources at the time of the plan, in the order of the plan. */
  readonly digests: readonly string[]
  readonly created: number
}

const COLUMNS = 'id, resource_type, dry_run, plan, copies, digests, created'

const INSERT: Statement = {
  name: 'promotions_insert',
  text: `INSERT INTO promotions (tenant_id, ${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
}

export function insertPromotion(db: Database, tenantId: string, row: PromotionRow): Promise<unknown> {
  const { id, resource_type, dry_run, plan, copies, digests, created } = row
  const written = [plan, copies, digests].map((part) => JSON.stringify(part))
  return db.query(INSERT, [tenantId, id, resource_type, dry_run, ...written, toTimestamp(created)])
}

const READ: Statement = {
  name: 'promotions_read',
  text: `SELECT ${COLUMNS} FROM promotions WHERE tenant_id = $1 AND id = $2`,
}

export async function readPromotion(
  db: Database,
  tenantId: string,
  id: string,
): Promise<PromotionRow | undefined> {
  return (await db.query<PromotionRow>(READ, [tenantId, id])).rows[0]
}

export const listPromotions = defineList<PromotionRow, 'listPromotions'>({
  operation: 'listPromotions',
  table: 'promotions',
  alias: 'p',
  columns: COLUMNS,
  filters: {},
  indexes: [[]],
})

const LOCK: Statement = {
  name: 'promotion_heads_lock',
  text: `INSERT INTO promotion_heads AS h (tenant_id, applied) VALUES ($1, 1)
         ON CONFLICT (tenant_id) DO UPDATE SET applied = h.applied + 1`,
}

/** Prevents the tenant's other promotions from copying until the transaction ends. */
export function lockPromotions(db: Database, tenantId: string): Promise<unknown> {
  return db.query(LOCK, [tenantId])
}

// The IDs are JSON, for the sake of the query plan: see pass-templates/queries.ts.
const READ_COPIES: Statement = {
  name: 'promoted_objects_read',
  text: `SELECT o.sandbox_id, o.live_id FROM json_array_elements_text($2) AS wanted (id)
          CROSS JOIN LATERAL (
            SELECT sandbox_id, live_id FROM promoted_objects o
             WHERE o.tenant_id = $1 AND o.sandbox_id = wanted.id OFFSET 0
          ) AS o`,
}

/** Returns the live IDs of earlier copies, by sandbox ID. A copy may have been deleted since. */
export async function readCopies(
  db: Database,
  tenantId: string,
  sandboxIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const values = [tenantId, JSON.stringify(sandboxIds)]
  const { rows } = await db.query<Schemas['PromotedObject']>(READ_COPIES, values)
  return new Map(rows.map(({ sandbox_id, live_id }) => [sandbox_id, live_id]))
}

const WRITE_COPY: Statement = {
  name: 'promoted_objects_write',
  text: `INSERT INTO promoted_objects (tenant_id, sandbox_id, live_id, promotion_id) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, sandbox_id)
         DO UPDATE SET live_id = excluded.live_id, promotion_id = excluded.promotion_id`,
}

/** Records a copy. Replaces the record of an earlier copy that was deleted. */
export function writeCopy(
  db: Database,
  tenantId: string,
  { sandbox_id, live_id }: Schemas['PromotedObject'],
  promotionId: string,
): Promise<unknown> {
  return db.query(WRITE_COPY, [tenantId, sandbox_id, live_id, promotionId])
}
