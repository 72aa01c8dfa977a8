/** The worker's side of the queue: who sends what, and when. */

import type { Statement } from '../../platform/database/database.ts'
import { byIndexSoon } from '../../platform/database/pool/by-index.ts'
import type { Pool, Soon } from '../../platform/database/pool/pool.ts'
import { readSqlFile } from '../../platform/database/sql-file.ts'
import type { RetiredSecret } from '../../resources/webhook-endpoints/secrets.ts'
import { type ForTenants, forOneTenant, type VisitRequest, visitValues } from './senders.ts'

/** Attempts under way at an endpoint, as in claim.sql and plan.sql; halved by each time-out in a row, never below one. */
export const PARTITION_WIDTH = 64

/** An attempt under a lease, with what sending it takes. Instants in milliseconds since the epoch. */
export interface Claimed {
  readonly tenant_id: string
  readonly attempt_id: string
  readonly endpoint_id: string
  readonly event_id: string
  readonly attempt: number
  readonly trigger: 'schedule' | 'manual'
  /** Whether it is to be sent; otherwise it is to be cancelled: its endpoint is disabled, gone or was enabled anew since. */
  readonly wanted: boolean
  readonly due_at: number
  /** Of the endpoint now. */
  readonly generation: number
  readonly timeouts: number
  readonly url: string
  readonly secret: Buffer
  readonly retired_secrets: readonly RetiredSecret[]
  readonly event_type: string
  readonly event_version: string
  readonly body: string
  /** When the event was emitted. */
  readonly emitted_at: number
}

/** What one claim found at a tenant. */
export interface ClaimVisit {
  readonly claimed: number
  /** In its bucket before that. */
  readonly tokens: number
}

export interface Claim {
  /** As in `Plans`. */
  readonly kept: Soon<unknown>['kept']
  readonly rows: readonly Claimed[]
  /** By tenant, without those for which another worker is claiming. */
  readonly visits: ReadonlyMap<string, ClaimVisit>
}

const TEXT = readSqlFile(import.meta.dirname, 'claim.sql')

const CLAIM: ForTenants = {
  many: { name: 'webhook_ready_claim', text: TEXT },
  one: { name: 'webhook_ready_claim_of_one', text: forOneTenant(TEXT, '$4') },
}

/** The same with its values, for those who want to see its plan. */
export function claimStatement(request: VisitRequest): readonly [Statement, unknown[]] {
  return [CLAIM[request.of], visitValues(request)]
}

/**
 * Takes attempts of the queue under a lease: a few of each partition, the first of every partition before the second of any, as many
 * of a tenant as its bucket holds. Whoever claims for the same tenant at the same time gets none of it. A claim that a crash
 * of the server forgets is made again, and what was sent under it is sent again.
 */
export async function claimAttempts(pool: Pool, request: VisitRequest): Promise<Claim> {
  type Row = Claimed & { tokens: number; attempt_id: string | null }
  const { rows, kept } = await byIndexSoon<Row>(pool, ...claimStatement(request))
  const visits = new Map<string, ClaimVisit>()
  for (const { tenant_id, tokens, attempt_id } of rows) {
    const claimed = (visits.get(tenant_id)?.claimed ?? 0) + (attempt_id === null ? 0 : 1)
    visits.set(tenant_id, { claimed, tokens })
  }
  return { kept, rows: rows.filter(({ attempt_id }) => attempt_id !== null), visits }
}
