/**
 * Compares a restored database with the systems that have seen its later changes. Payouts wait until this was done
 * (`runtime/database/backup/restored.ts`).
 */
import type { Logger } from 'pino'
import { readTimeline, recordReconciled } from '../../database/backup/restored.ts'
import { messageOf } from '../../database/errors.ts'
import type { OpenDatabase } from '../../database/open/open-database.ts'
import { readSpace } from '../../database/space.ts'
import { openBank } from '../../money/payouts/open-bank.ts'
import type { Settings } from '../../platform/settings.ts'
import { ControlError, isoTime, type Operator } from '../../tenants/admin/change.ts'
import { compareBank } from './bank.ts'
import { type Comparison, compareChain } from './chain.ts'
import type { FoundOutside, PlannedChange } from './finding.ts'
import {
  createRecorder,
  type FoundRecorder,
  findOverdrawn,
  type PendingPayout,
  type SpentMoney,
} from './record.ts'
import { describeWallets, resendWallets } from './wallets.ts'

export interface ReconcileOptions {
  readonly apply: boolean
  /** Whether payouts continue although some payments remain unknown. */
  readonly leaveUnknown: boolean
  /** Machine time from which on changes may be lost, if a different tool restored the database. */
  readonly since?: number | undefined
}

/** What reconciling has found, and whether it is done. */
export interface Reconciled {
  readonly timeline: number
  readonly restored_to: string | null
  readonly applied: boolean
  /** Whether payouts continue. */
  readonly payouts_continue: boolean
  readonly compared: readonly string[]
  readonly found: readonly FoundOutside[]
  /** Pending payouts that fail, because their money was paid already. */
  readonly overdrawn: readonly (Omit<PendingPayout, 'space'> & { readonly tenant_id: string })[]
  readonly wallets: readonly string[]
  readonly next: string
}

/** Clocks of chains and banks may differ from the database's. */
const MARGIN_MS = 3_600_000

type ReconcileSettings = Pick<Settings, 'chain' | 'bank' | 'production' | 'dnsServers'>

/**
 * Compares the database with the chain, the bank and the wallets, and shows the differences. With `apply`, also makes the
 * changes, and lets payouts continue if nothing is left to decide. Running it again is safe: it finds only what is left.
 */
export async function reconcile(
  operator: Operator,
  database: OpenDatabase,
  settings: ReconcileSettings,
  { apply, leaveUnknown, since }: ReconcileOptions,
  log: Logger,
): Promise<Reconciled> {
  const { control } = operator
  const current = await readTimeline(control)
  const restoredTo = since ?? current.restored_to
  const base = { timeline: current.timeline, restored_to: restoredTo === null ? null : isoTime(restoredTo) }
  const nothing = { compared: [], found: [], overdrawn: [], wallets: [], applied: false }
  if (current.reconciled_at !== null && since === undefined) {
    const next = 'nothing to do: the database was not restored, or is reconciled'
    return { ...base, ...nothing, payouts_continue: true, next }
  }
  if (restoredTo === null) {
    throw new ControlError(
      'invalid',
      `the server follows timeline ${current.timeline}, and it is not known to which time the database was restored: ` +
        'name a time from which on changes may be lost with --since',
    )
  }
  const recorder = createRecorder(operator, database)
  const from = restoredTo - MARGIN_MS
  const comparisons = [
    await compareChain(settings.chain, recorder, from),
    await compareWithBank(settings, recorder, from, log),
  ]
  const changes = comparisons.flatMap((each) => each.changes)
  const overdrawn = await planOverdrawn(recorder, changes)
  const isLeft = changes.some(({ found }) => found.action === 'unknown' || found.action === 'wait')
  const wallets = await describeWallets(control)
  const continues = apply && (!isLeft || leaveUnknown)
  if (apply) {
    // In this order, so that after a crash the next run finds the same.
    for (const payout of overdrawn) await recorder.fail(payout)
    for (const { apply: write } of changes) await write?.()
    if (current.reconciled_at === null) await resendWallets(control)
    if (continues) await recordReconciled(control)
  }
  return {
    ...{ ...base, applied: apply, payouts_continue: continues, wallets },
    compared: comparisons.map(({ words }) => words),
    found: changes.map(({ found }) => found),
    overdrawn: overdrawn.map(({ space, ...payout }) => ({ ...payout, tenant_id: readSpace(space).tenantId })),
    next: nextStep(apply, continues),
  }
}

function nextStep(apply: boolean, continues: boolean): string {
  if (!apply) return 'nothing was changed: check the list, then run the command with --apply'
  if (continues) return 'payouts continue'
  return 'payouts still wait: settle the unknown payments with their tenants, then run the command with --apply --leave-unknown'
}

async function compareWithBank(
  settings: ReconcileSettings,
  recorder: FoundRecorder,
  since: number,
  log: Logger,
): Promise<Comparison> {
  if (!settings.bank) return { changes: [], words: 'no bank is configured (SVC_BANK_URL)' }
  const open = await openBank(settings, log)
  try {
    return await compareBank(open.bank!, recorder, since)
  } catch (error) {
    // The bank returns the same payment for the same reference, so known payouts are safe. Unknown ones stay unknown.
    const found: FoundOutside = {
      ...{
        from: 'bank',
        action: 'unknown',
        payment: '',
        environment: 'live',
        tenant_id: null,
        payout_id: null,
      },
      ...{ amount: null, reason: `${messageOf(error)}. Compare the bank’s statement with admin payout show` },
    }
    return { changes: [{ found }], words: 'the bank could not be compared' }
  } finally {
    await open.close()
  }
}

/** Sums the money that was found to be paid, and finds the pending payouts that it no longer covers. */
async function planOverdrawn(
  { operator }: FoundRecorder,
  changes: readonly PlannedChange[],
): Promise<readonly PendingPayout[]> {
  const spent = new Map<string, SpentMoney>()
  const paid = changes.flatMap(({ found }) => found.payout_id ?? [])
  for (const { found, space } of changes) {
    if (found.action !== 'record' || space === undefined || found.environment === null) continue
    const key = `${found.environment} ${space}`
    const cents = (spent.get(key)?.cents ?? 0) + (found.amount ?? 0)
    spent.set(key, { environment: found.environment, space, cents })
  }
  const overdrawn: PendingPayout[] = []
  for (const each of spent.values()) overdrawn.push(...(await findOverdrawn(operator.control, each, paid)))
  return overdrawn
}
