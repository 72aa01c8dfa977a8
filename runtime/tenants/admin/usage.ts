import type { Environment } from '../../platform/environment.ts'
import { readUsage, type UsageLine } from '../usage/queries.ts'
import { ControlError, type Operator } from './change.ts'
import { requireTenant } from './tenants.ts'

const DAY_MS = 86_400_000

/** Number of days that can be shown. Counters are kept for as many. */
export const USAGE_DAYS = 400

export interface ShownUsage {
  readonly tenant_id: string
  readonly environment: Environment
  readonly usage: readonly Omit<UsageLine, 'tenantId'>[]
}

/** Returns the requests of a tenant by day and bucket, for the last `days` days including today (service time). */
export async function showUsage(
  operator: Operator,
  input: { readonly tenantId: string; readonly environment: Environment; readonly days: number },
): Promise<ShownUsage> {
  const { tenantId, environment, days } = input
  if (!Number.isInteger(days) || days < 1 || days > USAGE_DAYS) {
    throw new ControlError('invalid', `the number of days must be a whole number from 1 to ${USAGE_DAYS}`)
  }
  await requireTenant(operator.control, tenantId)
  const now = operator.clock.service(environment)
  const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const range = [dateOf(now - (days - 1) * DAY_MS), dateOf(now)] as const
  const usage = await readUsage(operator.control, environment, tenantId, ...range)
  return { tenant_id: tenantId, environment, usage }
}
