/** Writes what reconciling has found, each payout in one transaction of its tenant. */
import type { Database, Statement } from '../../database/database.ts'
import type { OpenDatabase } from '../../database/open/open-database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { readSpace } from '../../database/space.ts'
import { collectEvents } from '../../events/emit/emit.ts'
import { withdrawTransfer } from '../../money/chain/transfers.ts'
import { changePayout, type PayoutPlace } from '../../money/payouts/changes.ts'
import { type FoundPayment, recordFoundPayout } from '../../money/payouts/found.ts'
import { fail } from '../../money/payouts/states.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Operator } from '../../tenants/admin/change.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit } from '../../tenants/audit/queries.ts'
import type { DestinationPlace } from './finding.ts'

export interface FoundRecorder {
  readonly operator: Operator
  /** Writes the payout of a found payment. */
  record(destination: DestinationPlace, payment: Omit<FoundPayment, 'destination_id'>): Promise<void>
  /** Fails a payout that was not sent. */
  fail(payout: PendingPayout): Promise<void>
}

/** A payout that was not sent yet. */
export interface PendingPayout {
  readonly environment: Environment
  readonly space: string
  readonly id: string
  /** Cents. */
  readonly amount: number
}

export function createRecorder(operator: Operator, database: OpenDatabase): FoundRecorder {
  const { control, clock } = operator
  const write = async (
    { environment, space }: Pick<DestinationPlace, 'environment' | 'space'>,
    work: (place: PayoutPlace, now: number) => Promise<{ readonly id: string; readonly status: string }>,
  ) => {
    const { tenantId } = readSpace(space)
    const pin = await readPin(control, tenantId, environment)
    await database[environment].forTenant(tenantId).transaction(async (db) => {
      const now = clock.service(environment)
      const events = collectEvents({ tenantId: space, pin, now })
      const { id, status } = await work({ db, space, events }, now)
      const writing = events.write(db)
      pipelined(appendAudit(db, space, systemEntry(environment, `payout.${status}`, id, now)))
      await writing
    })
  }
  return {
    operator,
    record: (destination, payment) =>
      write(destination, (place, now) =>
        recordFoundPayout(place, { ...payment, destination_id: destination.id }, now),
      ),
    fail: ({ environment, space, id }) =>
      write({ environment, space }, async (place, now) => {
        await withdrawTransfer(place.db, space, id, now)
        return changePayout(place, id, (row) => fail(row, 'rejected', now))
      }),
  }
}

const payableIn = (environment: Environment): Statement => ({
  text: `SELECT least(greatest(a.balance, -9007199254740991), 9007199254740991) AS balance
           FROM ${environment}.ledger_accounts a WHERE a.tenant_id = $1 AND a.id = 'settlement_payable'`,
})

const pendingIn = (environment: Environment): Statement => ({
  text: `SELECT p.id, p.amount FROM ${environment}.payouts p
          WHERE p.tenant_id = $1 AND p.status = 'pending' AND p.id <> ALL ($2) ORDER BY p.created DESC, p.id DESC`,
})

/** Money that was found to be paid already, by tenant. */
export interface SpentMoney {
  readonly environment: Environment
  readonly space: string
  /** Cents that will leave the payable balance. */
  readonly cents: number
}

/**
 * Returns the payouts that must not be paid, because the payable balance would be negative: the newest pending ones.
 * @param paid payouts that were found to be paid.
 */
export async function findOverdrawn(
  control: Database,
  { environment, space, cents }: SpentMoney,
  paid: readonly string[],
): Promise<readonly PendingPayout[]> {
  const { rows } = await control.query<{ balance: number }>(payableIn(environment), [space])
  let balance = (rows[0]?.balance ?? 0) - cents
  if (balance >= 0) return []
  const pending = await control.query<{ id: string; amount: number }>(pendingIn(environment), [space, paid])
  const chosen: PendingPayout[] = []
  for (const { id, amount } of pending.rows) {
    if (balance >= 0) break
    chosen.push({ environment, space, id, amount })
    balance += amount
  }
  return chosen
}
