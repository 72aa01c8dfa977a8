import type { Database, Statement } from './database.ts'

/** Tables of an environment that a wipe leaves alone: what was done and used stays known. */
export const KEPT_TABLES = [
  ...['audit_log', 'audit_heads', 'usage_counters', 'usage_batches'],
  // Events go on counting where they were: who watches them must not see a number twice.
  'event_heads',
  // The bucket of attempts that were made.
  'webhook_senders',
] as const

// Held first: no pass can come to a template that is about to go.
const LOCK_TEMPLATES: Statement = {
  text: 'SELECT id FROM pass_templates WHERE tenant_id = $1 ORDER BY id FOR UPDATE',
}

const DELETE_TEMPLATES: Statement = {
  text: 'DELETE FROM pass_templates WHERE tenant_id = $1 AND id = ANY ($2)',
}

/** In the order of deletion; null for what callers know nothing of. */
const WIPED = [
  ['passes', 'pass'],
  ['webhook_endpoints', 'webhook_endpoint'],
  ['webhook_waiting', null],
  ['webhook_ready', null],
  ['webhook_attempts', 'webhook_delivery_attempt'],
  ['events', 'event'],
  ['idempotency_answers', null],
  ['trial_usage', null],
] as const

/** Tables that a wipe empties of the tenant's rows. */
export const WIPED_TABLES = [...WIPED.map(([table]) => table), 'pass_templates'] as const

/**
 * Deletes what a tenant has in an environment, for good, and says how many records of each type. What comes into being
 * meanwhile may stay. Retries of earlier requests find no stored answer any more.
 */
export async function wipeTenant(db: Database, tenantId: string): Promise<Record<string, number>> {
  const templates = await db.query<{ id: string }>(LOCK_TEMPLATES, [tenantId])
  const ids = templates.rows.map(({ id }) => id)
  const counts = await Promise.all([
    ...WIPED.map(async ([table, type]) => {
      const { count } = await db.query({ text: `DELETE FROM ${table} WHERE tenant_id = $1` }, [tenantId])
      return [type, count] as const
    }),
    db.query(DELETE_TEMPLATES, [tenantId, ids]).then(({ count }) => ['pass_template', count] as const),
  ])
  return Object.fromEntries(counts.filter(([type]) => type !== null))
}
