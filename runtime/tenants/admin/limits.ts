import type { Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { ControlError, change, isoTime, type Operator } from './change.ts'
import { requireTenant } from './tenants.ts'

/** Limits that can be lifted: all that apply to a tenant. */
export const BUCKETS = [
  'read',
  'passes_write',
  'passes_count',
  'templates_write',
  'webhooks_write',
  'account_write',
  'cards_write',
  'settlements_write',
  'webhooks_outbound',
  'concurrent_connections',
] as const

const LARGEST_FACTOR = 1000
const MAX_HOURS = 31 * 24

const INSERT_LIFT: Statement = {
  text: `INSERT INTO control.limit_lifts (tenant_id, id, environment, bucket, factor, created, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
}

export interface LiftInput {
  readonly tenantId: string
  readonly environment: Environment
  readonly bucket: string
  /** Factor by which the default limit is multiplied. */
  readonly factor: number
  readonly hours: number
}

export interface CreatedLift {
  readonly id: string
  readonly tenant_id: string
  readonly environment: Environment
  readonly bucket: string
  readonly factor: number
  readonly created: string
  readonly expires_at: string
}

function check(input: LiftInput): void {
  if (!BUCKETS.some((bucket) => bucket === input.bucket)) {
    throw new ControlError(
      'invalid',
      `there is no bucket ${input.bucket}: expected one of ${BUCKETS.join(', ')}`,
    )
  }
  if (!(input.factor > 0 && input.factor <= LARGEST_FACTOR)) {
    throw new ControlError('invalid', `the factor must be greater than 0 and at most ${LARGEST_FACTOR}`)
  }
  if (!(input.hours > 0 && input.hours <= MAX_HOURS)) {
    throw new ControlError('invalid', `the hours must be greater than 0 and at most ${MAX_HOURS}`)
  }
}

/**
 * Multiplies one rate limit of a tenant for a number of hours, in real time: limits do not use the service clock.
 */
export async function liftLimit(operator: Operator, input: LiftInput): Promise<CreatedLift> {
  check(input)
  const { tenantId, environment, bucket, factor } = input
  const now = operator.clock.machine()
  const expires = now + Math.round(input.hours * 3_600_000)
  const id = newId('lft', now)
  return change(operator, async (tx, note) => {
    await requireTenant(tx, tenantId)
    await tx.query(INSERT_LIFT, [
      tenantId,
      id,
      environment,
      bucket,
      factor,
      toTimestamp(now),
      toTimestamp(expires),
    ])
    note({ tenantId, environment, action: 'limit.lifted', targetId: id })
    return {
      id,
      tenant_id: tenantId,
      environment,
      bucket,
      factor,
      created: isoTime(now),
      expires_at: isoTime(expires),
    }
  })
}
