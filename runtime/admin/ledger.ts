import { countEntries, findFault } from '../ledger/verify.ts'
import type { Database, Statement } from '../platform/database/database.ts'
import { spaceOf } from '../platform/database/space.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { ControlError, type Operator } from './change.ts'
import { requireTenant } from './tenants.ts'

const WIPES: Statement = { text: 'SELECT sandbox_wipes FROM control.tenants WHERE id = $1' }

/** Where the records of a tenant that is there are. */
export async function findSpaces(control: Database, tenantId: string): Promise<Record<Environment, string>> {
  const { rows } = await control.query<{ sandbox_wipes: number }>(WIPES, [tenantId])
  return { sandbox: spaceOf(tenantId, rows[0]!.sandbox_wipes), live: tenantId }
}

export interface VerifiedLedger {
  readonly tenant_id: string
  /** How many there are in each environment. */
  readonly entries: Readonly<Record<Environment, number>>
}

/**
 * Checks a tenant's ledgers: that transactions and balances add up to zero, that the entries of each account follow on each other
 * without a gap, and that balances and holds are what their entries make them. Throws `broken` naming the first row that is wrong.
 */
export async function verifyLedger({ control }: Operator, tenantId: string): Promise<VerifiedLedger> {
  await requireTenant(control, tenantId)
  const spaces = await findSpaces(control, tenantId)
  for (const environment of ENVIRONMENTS) {
    const fault = await findFault(control, environment, spaces[environment])
    if (fault !== undefined)
      throw new ControlError('broken', `the ledger of ${environment} is wrong: ${fault}`)
  }
  const [sandbox, live] = await Promise.all(
    (['sandbox', 'live'] as const).map((each) => countEntries(control, each, spaces[each])),
  )
  return { tenant_id: tenantId, entries: { sandbox: sandbox!, live: live! } }
}
