import type { Database, Statement } from '../database/database.ts'
import { spaceOf } from '../database/space.ts'
import { countEntries, findFault } from '../money/ledger/verify.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { firstIdAt } from '../platform/ids.ts'
import { ControlError, isoTime, type Operator } from '../tenants/admin/change.ts'
import { requireTenant } from '../tenants/admin/tenants.ts'

const WIPES: Statement = { text: 'SELECT sandbox_wipes FROM control.tenants WHERE id = $1' }

/** Where the records of a tenant that is there are. */
export async function findSpaces(control: Database, tenantId: string): Promise<Record<Environment, string>> {
  const { rows } = await control.query<{ sandbox_wipes: number }>(WIPES, [tenantId])
  return { sandbox: spaceOf(tenantId, rows[0]!.sandbox_wipes), live: tenantId }
}

export interface CheckedLedger {
  readonly tenant_id: string
  readonly balanced: boolean
  /** In each environment whose ledger is not balanced, what is wrong first, in words. */
  readonly faults: readonly string[]
  /** How many there are in each environment. */
  readonly entries: Readonly<Record<Environment, number>>
}

/**
 * Checks a tenant's ledgers: that transactions and balances add up to zero, that the entries of each account follow on each other
 * without a gap, that balances and holds are what their entries make them, and that no checkpoint of reports splits a transaction.
 */
export async function checkLedger({ control }: Operator, tenantId: string): Promise<CheckedLedger> {
  await requireTenant(control, tenantId)
  const spaces = await findSpaces(control, tenantId)
  const faults: string[] = []
  const entries = { sandbox: 0, live: 0 }
  for (const environment of ENVIRONMENTS) {
    const fault = await findFault(control, environment, spaces[environment])
    if (fault !== undefined) faults.push(`the ledger of ${environment} is not balanced: ${fault}`)
    entries[environment] = await countEntries(control, environment, spaces[environment])
  }
  return { tenant_id: tenantId, balanced: faults.length === 0, faults, entries }
}

/** Throws `broken` with what is wrong, unless a ledger is balanced. */
export function requireBalanced({ faults }: CheckedLedger): void {
  if (faults.length > 0) throw new ControlError('broken', faults.join('; '))
}

/** The same check; throws `broken` naming the first row that is wrong. */
export async function verifyLedger(operator: Operator, tenantId: string): Promise<CheckedLedger> {
  const checked = await checkLedger(operator, tenantId)
  requireBalanced(checked)
  return checked
}

// Accounts that workers book may be beyond exact numbers, which read as the last of them.
const exact = (column: string) =>
  `least(greatest(e.${column}, -9007199254740991), 9007199254740991) AS ${column}`

const ENTRY = `SELECT e.id, e.cause, e.account_id, e.amount, ${exact('previous')}, ${exact('current')}, e.version, e.created`

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
