/** Dollars on their way: a bank is asked for them under a lease, between two transactions. */
import type { Logger } from 'pino'
import type { Sanctions } from '../../cards/sanctions/list-in-use.ts'
import type { Database } from '../../database/database.ts'
import { liesInRows, reasonOf } from '../../database/errors.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import { requireExact } from '../../database/types.ts'
import { collectEvents } from '../../events/emit/emit.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import type { Seals } from '../../platform/secrets.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit, isSpaceWiped } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { type BankAccount, openAccount } from '../destinations/account.ts'
import { readAccount } from '../destinations/queries.ts'
import type { Bank, BankAnswer } from './bank-client.ts'
import {
  type BankTransferRow,
  findDueTransfers,
  holdUpBankTransfer,
  lockBankTransfer,
  updateBankTransfer,
} from './bank-queries.ts'
import { claim, decided, type TransferVisit, visitAfter } from './bank-states.ts'
import { writeChange } from './changes.ts'
import { lockPayout, type PayoutRow } from './queries.ts'
import { isSignable } from './transfer-listener.ts'

export interface BankJobParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
  readonly seals: Seals
  readonly bank: Bank
  readonly log: Pick<Logger, 'error' | 'warn'>
  readonly sanctions: Pick<Sanctions, 'list'>
}

/** Where a transfer is. */
interface BankTransferKey {
  readonly environment: Environment
  readonly space: string
  readonly id: string
}

/** What a worker is to ask, under its lease. */
interface Leased {
  readonly token: string
  readonly ask: (bank: Bank) => Promise<BankAnswer>
}

/** Transfers under way at a time. */
const BATCH = 20

/** Looks once at every transfer that is due, of all tenants. One that fails stops no other. */
export async function visitBank(parts: BankJobParts): Promise<void> {
  const looks = await Promise.allSettled(ENVIRONMENTS.map((environment) => visitAll(parts, environment)))
  for (const look of looks) if (look.status === 'rejected') throw look.reason
}

async function visitAll(parts: BankJobParts, environment: Environment): Promise<void> {
  const seen = new Set<string>()
  for (;;) {
    const due = await findDueTransfers(parts.database[environment], parts.clock.machine(), BATCH)
    const fresh = due.filter(({ tenant_id, id }) => !seen.has(`${tenant_id} ${id}`))
    for (const { tenant_id, id } of fresh) seen.add(`${tenant_id} ${id}`)
    const visits = fresh.map(({ tenant_id: space, id, problem }) =>
      visit(parts, { environment, space, id }, problem),
    )
    for (const each of await Promise.allSettled(visits)) if (each.status === 'rejected') throw each.reason
    if (due.length < BATCH || fresh.length === 0) return
  }
}

/** @param known why it was held up before. */
async function visit(parts: BankJobParts, place: BankTransferKey, known: string | null): Promise<void> {
  try {
    const leased = await lease(parts, place)
    if (leased) await record(parts, place, leased.token, await leased.ask(parts.bank))
  } catch (error) {
    if (isSpaceWiped(error)) return // the next look does not find it
    if (!liesInRows(error)) throw error
    const { environment, space, id } = place
    const problem = reasonOf(error)
    if (problem !== known) parts.log.error({ payout_id: id }, `a payout is held up: ${problem}`)
    await holdUpBankTransfer(parts.database[environment], space, id, { problem, now: parts.clock.machine() })
  }
}

/** Takes a transfer for this worker alone; undefined where another one has it, or nothing is to be asked any more. */
function lease(parts: BankJobParts, place: BankTransferKey): Promise<Leased | undefined> {
  const now = parts.clock.machine()
  return change(parts, place, async (db, payout, transfer) => {
    if (transfer.due === null || transfer.due > now) return undefined
    requireExact(payout.amount, 'its amount')
    const byOperator = decided(transfer, payout, serviceTime(parts, place))
    if (byOperator) return { ...byOperator, result: undefined }
    const isPayable =
      transfer.state !== 'queued' || (await isSignable(db, place.space, payout.id, parts.sanctions.list()))
    const token = crypto.randomUUID()
    const visit = claim(transfer, payout, { isPayable, token, now, service: serviceTime(parts, place) })
    if (visit.transfer.due === null) return { ...visit, result: undefined }
    const { bank_id } = visit.transfer
    if (bank_id !== null) return { ...visit, result: { token, ask: (bank) => bank.find(bank_id) } }
    const account = await readSealed(parts, place, db, payout)
    return { ...visit, result: { token, ask: (bank) => bank.pay(payout, account) } }
  })
}

async function readSealed(
  { seals }: BankJobParts,
  { environment, space }: BankTransferKey,
  db: Database,
  { destination_id }: PayoutRow,
): Promise<BankAccount> {
  const sealed = await readAccount(db, space, destination_id)
  if (!sealed) throw new Error(`destination ${destination_id} has no bank account`)
  return openAccount({ seals, caller: { environment, space } }, destination_id, sealed)
}

/** Writes what the bank has answered, unless another worker has taken the transfer over. */
function record(
  parts: BankJobParts,
  place: BankTransferKey,
  token: string,
  answer: BankAnswer,
): Promise<unknown> {
  return change(parts, place, async (_, payout, transfer) => {
    if (transfer.token !== token) return undefined
    const times = { now: parts.clock.machine(), service: serviceTime(parts, place) }
    return { ...visitAfter(transfer, payout, answer, times), result: undefined }
  })
}

const serviceTime = ({ clock }: BankJobParts, { environment }: BankTransferKey): number =>
  clock.service(environment)

/** A transaction that locks a payout and its transfer, and writes what they become; gives the result. */
async function change<Result>(
  { database, wakeUpChannel, clock }: BankJobParts,
  { environment, space, id }: BankTransferKey,
  become: (
    db: Database,
    payout: PayoutRow,
    transfer: BankTransferRow,
  ) => Promise<(TransferVisit & { readonly result: Result }) | undefined>,
): Promise<Result | undefined> {
  const { tenantId } = readSpace(space)
  const now = clock.service(environment)
  const pin = await readPin(database.control, tenantId, environment)
  let isDue = false
  const result = await database[environment].forTenant(tenantId).transaction(async (db) => {
    isDue = false
    const [payout, transfer] = await Promise.all([lockPayout(db, space, id), lockBankTransfer(db, space, id)])
    const visit = payout && transfer && (await become(db, payout, transfer))
    if (!visit) return undefined
    pipelined(updateBankTransfer(db, space, id, visit.transfer))
    if (visit.payout) {
      const events = collectEvents({ tenantId: space, pin, now })
      await writeChange({ db, space, events }, payout, visit.payout)
      const writing = events.write(db)
      pipelined(appendAudit(db, space, systemEntry(environment, `payout.${visit.payout.status}`, id, now)))
      isDue = await writing
    }
    return visit.result
  })
  if (isDue) wakeUpChannel.publish(environment, space)
  return result
}

const PAUSE_MS = 1000

/** Looks every second. */
export function startBankJob(parts: BankJobParts): PeriodicJob {
  return runPeriodically(() => visitBank(parts), {
    pauseMs: PAUSE_MS,
    failed: (err) => parts.log.warn({ err }, 'the bank could not be asked; the next look asks again'),
  })
}
