import type { Statement } from '../platform/database/database.ts'
import type { Environment } from '../platform/environment.ts'
import { isoTime, type Operator } from './change.ts'
import { requireTenant, type TenantSummary } from './tenants.ts'

const PINS: Statement = {
  text: 'SELECT environment, version FROM control.pins WHERE tenant_id = $1 ORDER BY environment DESC',
}

const MEMBERS: Statement = {
  text: 'SELECT id, email, role, created FROM control.members WHERE tenant_id = $1 ORDER BY created, id',
}

const KEYS: Statement = {
  text: `SELECT id, environment, kind, scope, hint, allowed_ips, member_id, replaces_id, created, retired_at, revoked_at, last_used_at
         FROM control.keys WHERE tenant_id = $1 ORDER BY created, id`,
}

const LIFTS: Statement = {
  text: `SELECT id, environment, bucket, factor, created, expires_at FROM control.limit_lifts
         WHERE tenant_id = $1 AND expires_at > $2 ORDER BY created, id`,
}

interface KeyTimes {
  readonly created: number
  readonly retired_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
}

/** Timestamps of a row as ISO texts; the rest as it is. */
function readable<Row extends object>(row: Row, times: readonly (keyof Row)[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      times.some((time) => time === name) && typeof value === 'number' ? isoTime(value) : value,
    ]),
  )
}

export interface TenantDetails extends TenantSummary {
  readonly pins: Readonly<Record<string, string>>
  readonly members: readonly Record<string, unknown>[]
  readonly keys: readonly Record<string, unknown>[]
  readonly limit_lifts: readonly Record<string, unknown>[]
}

/** Everything about a tenant that is no secret. Throws `not_found`. */
export async function showTenant(operator: Operator, id: string): Promise<TenantDetails> {
  const { control, clock } = operator
  const now = new Date(clock.machine()).toISOString()
  const [tenant, pins, members, keys, lifts] = await Promise.all([
    requireTenant(control, id),
    control.query<{ environment: Environment; version: string }>(PINS, [id]),
    control.query<{ created: number }>(MEMBERS, [id]),
    control.query<KeyTimes>(KEYS, [id]),
    control.query<{ factor: string; created: number; expires_at: number }>(LIFTS, [id, now]),
  ])
  return {
    ...tenant,
    pins: Object.fromEntries(pins.rows.map(({ environment, version }) => [environment, version])),
    members: members.rows.map((row) => readable(row, ['created'])),
    keys: keys.rows.map((row) => readable(row, ['created', 'retired_at', 'revoked_at', 'last_used_at'])),
    limit_lifts: lifts.rows.map((row) =>
      readable({ ...row, factor: Number(row.factor) }, ['created', 'expires_at']),
    ),
  }
}
