/** Tenants of the bench of deliveries, put into the sandbox's tables as the API would, and crowds of attempts. */

import type { MeasuredPool } from '../../runtime/database/pool/pool.ts'
import { toTimestamp } from '../../runtime/database/types.ts'
import { insertEndpoint } from '../../runtime/events/webhook-endpoints/queries.ts'
import { createEndpointSecrets } from '../../runtime/events/webhook-endpoints/secrets.ts'
import { newId } from '../../runtime/platform/ids.ts'
import type { Seals } from '../../runtime/platform/secrets.ts'
import { emitEvents } from './webhooks-events.ts'

/** Makes a tenant with so many endpoints of one URL, which hear of everything; gives its id. */
export async function addTenant(
  pool: MeasuredPool,
  seals: Seals,
  url: string,
  endpoints = 1,
): Promise<string> {
  const now = Date.now()
  const tenantId = newId('ten', now)
  const secrets = createEndpointSecrets(seals, 'sandbox')
  for (let made = 0; made < endpoints; made++) {
    const id = newId('whe', now)
    const row = {
      id,
      url,
      description: null,
      enabled_events: ['*'],
      status: 'enabled',
      disabled_reason: null,
      secret: secrets.make(tenantId, id).sealed,
      retired_secrets: [],
      signature: 'service',
      delivery: 'unordered',
      fifo_key: 'endpoint',
      retry_schedule: 'standard',
      filters: null,
      metadata: {},
      generation: 0,
      timeouts: 0,
      created: now,
      updated: now,
    } as const
    await pool.transaction((tx) => insertEndpoint(tx, tenantId, row))
  }
  return tenantId
}

const CROWD = `WITH crowd AS (
    SELECT w.id AS endpoint_id, 'wdla_' || substr($2, 5, 14) || lpad(n::text, 6, '0') || substr(md5(w.id), 1, 6) AS id
      FROM webhook_endpoints w, generate_series(1, $3) AS n WHERE w.tenant_id = $1
  ), attempts AS (
    INSERT INTO webhook_attempts (tenant_id, id, endpoint_id, event_id, attempt, status, trigger, scheduled_at, created, updated)
    SELECT $1, id, endpoint_id, $2, 1, 'pending', 'schedule', $4, $4, $4 FROM crowd
  )
  INSERT INTO webhook_ready (tenant_id, attempt_id, endpoint_id, event_id, attempt, trigger, due_at)
  SELECT $1, id, endpoint_id, $2, 1, 'schedule', $4 FROM crowd`

/** Puts so many attempts for each endpoint of the tenant into the queue, all of one event, all due. */
export async function addCrowd(pool: MeasuredPool, tenantId: string, each: number): Promise<void> {
  const [eventId] = await pool.transaction((tx) => emitEvents(tx, tenantId, 1))
  await pool.query({ text: CROWD, long: true }, [tenantId, eventId, each, toTimestamp(Date.now())])
}
