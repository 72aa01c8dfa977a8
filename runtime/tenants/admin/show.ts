/** Operator queries: tenants, their pins, keys and limits. Results contain no secrets. */
import type { Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import { CONCURRENT_REQUESTS, LIMITS, OUTBOUND_PER_SECOND } from '../limits/limiter.ts'
import { ControlError, isoTime, type Operator } from './change.ts'
import type { BUCKETS } from './limits.ts'
import { requireTenant, type TenantSummary } from './tenants.ts'

const PINS: Statement = {
  text: `SELECT environment, version, pinned_at FROM control.pins WHERE tenant_id = $1 ORDER BY environment DESC`,
}

const MEMBERS: Statement = {
  text: 'SELECT id, email, role, created FROM control.members WHERE tenant_id = $1 ORDER BY created, id',
}

const KEY_COLUMNS =
  'id, environment, kind, scope, hint, allowed_ips, member_id, replaces_id, created, retired_at, revoked_at, last_used_at'

const KEYS: Statement = {
  text: `SELECT ${KEY_COLUMNS} FROM control.keys
         WHERE tenant_id = $1 AND environment = coalesce($2, environment) ORDER BY created, id`,
}

const KEY: Statement = { text: `SELECT tenant_id, ${KEY_COLUMNS} FROM control.keys WHERE id = $1` }

const LIFTS: Statement = {
  text: `SELECT id, environment, bucket, factor, created, expires_at FROM control.limit_lifts
         WHERE tenant_id = $1 AND expires_at > $2 AND environment = coalesce($3, environment)
           AND bucket = coalesce($4, bucket)
         ORDER BY created, id`,
}

type ShownFields = Readonly<Record<string, unknown>>

export interface ShownList {
  readonly data: readonly ShownFields[]
}

interface ShownLift {
  readonly factor: string
  readonly created: number
  readonly expires_at: number
}

/** Formats the timestamps of a row as ISO 8601. */
function readable<Row extends object>(row: Row, times: readonly (keyof Row)[]): ShownFields {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      times.some((time) => time === name) && typeof value === 'number' ? isoTime(value) : value,
    ]),
  )
}

const readableKey = (row: object): ShownFields =>
  readable<Record<string, unknown>>({ ...row }, ['created', 'retired_at', 'revoked_at', 'last_used_at'])

/** Lists the versions that a tenant is pinned to, sandbox first. @throws ControlError `not_found`. */
export async function listPins({ control }: Operator, tenantId: string): Promise<ShownList> {
  await requireTenant(control, tenantId)
  const { rows } = await control.query<{ pinned_at: number }>(PINS, [tenantId])
  return { data: rows.map((row) => readable(row, ['pinned_at'])) }
}

/** Returns the pin of one environment. @throws ControlError `not_found`. */
export async function showPin(
  operator: Operator,
  tenantId: string,
  environment: Environment,
): Promise<ShownFields> {
  const { data } = await listPins(operator, tenantId)
  const pin = data.find((each) => each.environment === environment)
  if (!pin)
    throw new ControlError(
      'not_found',
      `${tenantId} has no pin in ${environment}: set one with admin pin set`,
    )
  return { tenant_id: tenantId, ...pin }
}

/** Lists the keys of a tenant, including revoked keys, oldest first. @throws ControlError `not_found`. */
export async function listKeys(
  { control }: Operator,
  tenantId: string,
  environment?: Environment,
): Promise<ShownList> {
  await requireTenant(control, tenantId)
  const { rows } = await control.query(KEYS, [tenantId, environment ?? null])
  return { data: rows.map(readableKey) }
}

/** Returns one key without its secret, which is not stored. @throws ControlError `not_found`. */
export async function showKey({ control }: Operator, id: string): Promise<ShownFields> {
  const { rows } = await control.query(KEY, [id])
  if (!rows[0])
    throw new ControlError(
      'not_found',
      `there is no key ${id}: expected an identifier that starts with key_, not the secret`,
    )
  return readableKey(rows[0])
}

interface LiftFilter {
  readonly environment?: Environment | undefined
  readonly bucket?: string | undefined
}

async function readLifts(
  { control, clock }: Operator,
  tenantId: string,
  { environment, bucket }: LiftFilter = {},
) {
  const now = toTimestamp(clock.machine())
  const { rows } = await control.query<ShownLift>(LIFTS, [tenantId, now, environment ?? null, bucket ?? null])
  return rows.map((row) => ({ ...row, factor: Number(row.factor) }))
}

const readableLift = (lift: object): ShownFields =>
  readable<Record<string, unknown>>({ ...lift }, ['created', 'expires_at'])

/** Lists the lifts in force. @throws ControlError `not_found`. */
export async function listLifts(
  operator: Operator,
  tenantId: string,
  environment?: Environment,
): Promise<ShownList> {
  await requireTenant(operator.control, tenantId)
  return { data: (await readLifts(operator, tenantId, { environment })).map(readableLift) }
}

/** Default limits that can be lifted, with their units. */
const ORDINARY: Readonly<Record<(typeof BUCKETS)[number], readonly [limit: number, unit: string]>> = {
  read: [LIMITS.read, 'requests per minute'],
  passes_write: [LIMITS.passes_write, 'requests per minute'],
  passes_count: [LIMITS.passes_count, 'requests per minute'],
  templates_write: [LIMITS.templates_write, 'requests per minute'],
  webhooks_write: [LIMITS.webhooks_write, 'requests per minute'],
  account_write: [LIMITS.account_write, 'requests per minute'],
  cards_write: [LIMITS.cards_write, 'requests per minute'],
  settlements_write: [LIMITS.settlements_write, 'requests per minute'],
  webhooks_outbound: [OUTBOUND_PER_SECOND, 'events per second'],
  concurrent_connections: [CONCURRENT_REQUESTS, 'concurrent requests'],
}

/**
 * Returns one limit of a tenant: the default, the lifts in force, and the resulting limit. @throws ControlError
 * `not_found`.
 */
export async function showLimit(
  operator: Operator,
  tenantId: string,
  environment: Environment,
  bucket: (typeof BUCKETS)[number],
): Promise<ShownFields> {
  await requireTenant(operator.control, tenantId)
  const lifts = await readLifts(operator, tenantId, { environment, bucket })
  const [limit, unit] = ORDINARY[bucket]
  const inForce = Math.max(1, Math.floor(lifts.reduce((product, { factor }) => product * factor, limit)))
  return {
    tenant_id: tenantId,
    environment,
    bucket,
    ordinary_limit: limit,
    limit: inForce,
    unit,
    lifts: lifts.map(readableLift),
  }
}

export interface TenantDetails extends TenantSummary {
  readonly pins: Readonly<Record<string, string>>
  readonly members: readonly ShownFields[]
  readonly keys: readonly ShownFields[]
  readonly limit_lifts: readonly ShownFields[]
}

/** Returns everything about a tenant except secrets. @throws ControlError `not_found`. */
export async function showTenant(operator: Operator, id: string): Promise<TenantDetails> {
  const { control } = operator
  const [tenant, pins, members, keys, lifts] = await Promise.all([
    requireTenant(control, id),
    control.query<{ environment: Environment; version: string }>(PINS, [id]),
    control.query<{ created: number }>(MEMBERS, [id]),
    control.query(KEYS, [id, null]),
    readLifts(operator, id),
  ])
  return {
    ...tenant,
    pins: Object.fromEntries(pins.rows.map(({ environment, version }) => [environment, version])),
    members: members.rows.map((row) => readable(row, ['created'])),
    keys: keys.rows.map(readableKey),
    limit_lifts: lifts.map(readableLift),
  }
}
