import { countEntries, findFault } from '../ledger/verify.ts'
import type { Database, Statement } from '../platform/database/database.ts'
import { spaceOf } from '../platform/database/space.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { firstIdAt } from '../platform/ids.ts'
import { ControlError, isoTime, type Operator } from './change.ts'
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

const ENTRY = 'SELECT e.id, e.cause, e.account_id, e.amount, e.previous, e.current, e.version, e.created'

const entryIn = (environment: Environment): Statement => ({
  text: `${ENTRY} FROM ${environment}.ledger_entries e WHERE e.tenant_id = $1 AND e.id = $2`,
})

// Entries of a transaction are made in the same millisecond, which their identifiers begin with.
const besideIn = (environment: Environment): Statement => ({
  text: `${ENTRY} FROM ${environment}.ledger_entries e
          WHERE e.tenant_id = $1 AND e.id >= $2 AND e.id < $3 AND e.cause = $4 ORDER BY e.id`,
})

interface EntryRow {
  readonly id: string
  readonly cause: string
  readonly account_id: string
  readonly amount: number
  readonly previous: number
  readonly current: number
  readonly version: number
  readonly created: number
}

export interface ShownTransaction {
  readonly cause: string
  readonly created: string
  /** Amounts in cents; what is the tenant's is positive. */
  readonly entries: readonly (Omit<EntryRow, 'cause' | 'account_id' | 'created'> & {
    readonly account: string
  })[]
}

/** The transaction of the ledger that an entry is of; undefined where the tenant has no such entry in the environment. */
export async function showLedgerEntry(
  { control }: Operator,
  tenantId: string,
  environment: Environment,
  id: string,
): Promise<ShownTransaction | undefined> {
  const space = (await findSpaces(control, tenantId))[environment]
  const [entry] = (await control.query<EntryRow>(entryIn(environment), [space, id])).rows
  if (!entry) return undefined
  const { cause, created } = entry
  const within = [firstIdAt('len', created), firstIdAt('len', created + 1)]
  const { rows } = await control.query<EntryRow>(besideIn(environment), [space, ...within, cause])
  const entries = rows.map(({ cause: _same, account_id: account, created: _then, ...shown }) => ({
    account,
    ...shown,
  }))
  return { cause, created: isoTime(created), entries }
}
