import type { Database, Statement } from '../database/database.ts'
import { spaceOf } from '../database/space.ts'
import { countEntries, findFault } from '../money/ledger/verify.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import { firstIdAt } from '../platform/ids.ts'
import { ControlError, isoTime, type Operator } from '../tenants/admin/change.ts'
import { requireTenant } from '../tenants/admin/tenants.ts'

const WIPES: Statement = { text: 'SELECT sandbox_wipes FROM control.tenants WHERE id = $1' }

/** Returns the spaces of an existing tenant. */
export async function findSpaces(control: Database, tenantId: string): Promise<Record<Environment, string>> {
  const { rows } = await control.query<{ sandbox_wipes: number }>(WIPES, [tenantId])
  return { sandbox: spaceOf(tenantId, rows[0]!.sandbox_wipes), live: tenantId }
}

const NAMED: Statement = {
  text: 'SELECT x.id, x.space FROM sandbox.sandboxes x WHERE x.tenant_id = $1 ORDER BY x.id',
}

export interface CheckedLedger {
  readonly tenant_id: string
  readonly balanced: boolean
  /** The first fault in live and in each sandbox whose ledger is not balanced. */
  readonly faults: readonly string[]
  /** Number of entries in each environment, those of named sandboxes included. */
  readonly entries: Readonly<Record<Environment, number>>
}

/**
 * Checks the ledgers of a tenant: transactions and balances sum to zero, the entries of each account are consecutive,
 * balances and holds match their entries, and no report checkpoint splits a transaction.
 */
export async function checkLedger({ control }: Operator, tenantId: string): Promise<CheckedLedger> {
  await requireTenant(control, tenantId)
  const spaces = await findSpaces(control, tenantId)
  const faults: string[] = []
  const entries = { sandbox: 0, live: 0 }
  const check = async (environment: Environment, space: string, name: string = environment) => {
    const fault = await findFault(control, environment, space)
    if (fault !== undefined) faults.push(`the ledger of ${name} is not balanced: ${fault}`)
    entries[environment] += await countEntries(control, environment, space)
  }
  for (const environment of ENVIRONMENTS) await check(environment, spaces[environment])
  const { rows } = await control.query<{ id: string; space: string }>(NAMED, [tenantId])
  for (const { id, space } of rows) await check('sandbox', space, id)
  return { tenant_id: tenantId, balanced: faults.length === 0, faults, entries }
}

/** Throws `broken` with the faults unless the ledgers are balanced. */
export function requireBalanced({ faults }: CheckedLedger): void {
  if (faults.length > 0) throw new ControlError('broken', faults.join('; '))
}

/** Runs `checkLedger` and throws `broken` with the first faulty row of each environment. */
export async function verifyLedger(operator: Operator, tenantId: string): Promise<CheckedLedger> {
  const checked = await checkLedger(operator, tenantId)
  requireBalanced(checked)
  return checked
}

// Balances that workers write may exceed the safe integer range. They are clamped to its bounds.
const exact = (column: string) =>
  `least(greatest(e.${column}, -9007199254740991), 9007199254740991) AS ${column}`

const ENTRY = `SELECT e.id, e.cause, e.account_id, e.amount, ${exact('previous')}, ${exact('current')}, e.version, e.created`

const entryIn = (environment: Environment): Statement => ({
  text: `${ENTRY} FROM ${environment}.ledger_entries e WHERE e.tenant_id = $1 AND e.id = $2`,
})

// The entries of a transaction are created in the same millisecond, with which their identifiers begin.
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
  /** Amounts in cents. Amounts in favor of the tenant are positive. */
  readonly entries: readonly (Omit<EntryRow, 'cause' | 'account_id' | 'created'> & {
    readonly account: string
  })[]
}

/** Returns the ledger transaction of an entry, or undefined if the tenant has no such entry in the environment. */
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
