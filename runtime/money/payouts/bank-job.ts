/** Pays out dollars: requests each payment from the bank under a lease, between two transactions. */
import type { Sanctions } from '../../cards/sanctions/list-in-use.ts'
import { arePayoutsHeld } from '../../database/backup/restored.ts'
import type { Database } from '../../database/database.ts'
import { reasonOf } from '../../database/errors.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import { requireExact } from '../../database/types.ts'
import { collectEvents } from '../../events/emit/emit.ts'
import type { WakeUpChannel } from '../../events/emit/wake-ups.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Seals } from '../../platform/secrets.ts'
import { readPin } from '../../tenants/admin/pins.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit } from '../../tenants/audit/queries.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { runInSpan } from '../../tracing/span.ts'
import { type DeclaredWorker, defineWorker, type WorkerParts } from '../../work/workers.ts'
import { type BankAccount, openAccount } from '../destinations/account.ts'
import { readAccount } from '../destinations/queries.ts'
import type { Bank, BankAnswer } from './bank-client.ts'
import {
  type BankTransferRow,
  type DueBankTransfer,
  findDueTransfers,
  holdUpBankTransfer,
  lockBankTransfer,
  updateBankTransfer,
} from './bank-queries.ts'
import { claim, decided, type TransferVisit, visitAfter } from './bank-states.ts'
import { writeChange } from './changes.ts'
import { lockPayout, type PayoutRow } from './queries.ts'
import { isSignable } from './transfer-listener.ts'

type PayingBank = Pick<Bank, 'pay' | 'find'>

export interface BankJobParts extends WorkerParts {
  readonly database: Readonly<Record<Environment, Pool>> & { readonly control: Database }
  readonly clock: Clock
  readonly wakeUpChannel: WakeUpChannel
  readonly seals: Seals
  readonly bank: PayingBank
  readonly sanctions: Pick<Sanctions, 'list'>
}

/** Identifies a transfer. */
interface BankTransferKey {
  readonly environment: Environment
  readonly space: string
  readonly id: string
  /** Machine time according to the database. */
  readonly now: () => number
}

/** A leased transfer, with the request to send to the bank. */
interface Leased {
  readonly token: string
  readonly ask: (bank: PayingBank) => Promise<BankAnswer>
}

/** Maximum number of concurrent bank requests per process and environment. */
const AT_ONCE = 20

/**
 * Calls the bank about every due transfer. A failing transfer is held up in its row, and `admin payout held-up` lists it
 * with the transfers without a usable bank answer. It is not set aside like other work.
 */
export function bankWorker(parts: BankJobParts): DeclaredWorker {
  const { database, bank, log } = parts
  return defineWorker<DueBankTransfer>(parts, {
    name: 'bank_transfers',
    atOnce: AT_ONCE,
    async find({ limit, now }, environment) {
      const due = await findDueTransfers(database[environment], now, limit)
      return due.length > 0 && (await arePayoutsHeld(database.control)) ? [] : due
    },
    itemOf: ({ tenant_id: space, id }) => ({ space, id }),
    perform([due], { environment, now, tracer }) {
      const place = { environment, now, space: due!.tenant_id, id: due!.id }
      const attributes = { 'svc.payout_id': place.id, 'svc.tenant_id': place.space }
      const span = tracer?.resume(due!.trace, { name: 'pay out dollars', kind: 'consumer', attributes })
      return runInSpan(span, async () => {
        const leased = await lease(parts, place)
        if (!leased) return 'idle'
        await record(parts, place, leased.token, await leased.ask(bank))
        return 'done'
      })
    },
    async isolate({ tenant_id: space, id, problem: known }, error, { environment, now }) {
      const problem = reasonOf(error)
      if (problem !== known) log.error({ payout_id: id }, `A payout is held up: ${problem}`)
      await holdUpBankTransfer(database[environment], space, id, { problem, now: now() })
    },
  })
}

/** Leases a transfer. Returns undefined if another worker holds it or there is no request to send. */
function lease(parts: BankJobParts, place: BankTransferKey): Promise<Leased | undefined> {
  const now = place.now()
  return change(parts, place, async ({ db, payout, transfer, service }) => {
    if (transfer.due === null || transfer.due > now) return undefined
    requireExact(payout.amount, 'its amount')
    const byOperator = decided(transfer, payout, service)
    if (byOperator) return { ...byOperator, result: undefined }
    const isPayable =
      transfer.state !== 'queued' || (await isSignable(db, place.space, payout.id, parts.sanctions.list()))
    const token = crypto.randomUUID()
    const visit = claim(transfer, payout, { isPayable, token, now, service })
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
  if (!sealed) throw new Error(`Payout destination ${destination_id} has no bank account.`)
  return openAccount({ seals, caller: { environment, space } }, destination_id, sealed)
}

/** Writes the bank's answer, unless another worker has taken over the transfer. */
function record(
  parts: BankJobParts,
  place: BankTransferKey,
  token: string,
  answer: BankAnswer,
): Promise<unknown> {
  return change(parts, place, async ({ payout, transfer, service }) => {
    if (transfer.token !== token) return undefined
    return { ...visitAfter(transfer, payout, answer, { now: place.now(), service }), result: undefined }
  })
}

/** A payout and its transfer, both locked. */
interface Locked {
  readonly db: Database
  readonly payout: PayoutRow
  readonly transfer: BankTransferRow
  /** Service time, read after the locks, for which a transaction can wait. */
  readonly service: number
}

/** Locks a payout and its transfer in a transaction, applies `become`, writes both, and returns its result. */
async function change<Result>(
  { database, wakeUpChannel, clock }: BankJobParts,
  { environment, space, id }: BankTransferKey,
  become: (locked: Locked) => Promise<(TransferVisit & { readonly result: Result }) | undefined>,
): Promise<Result | undefined> {
  const { tenantId } = readSpace(space)
  const pin = await readPin(database.control, tenantId, environment)
  let isDue = false
  const result = await database[environment].forTenant(tenantId).transaction(async (db) => {
    isDue = false
    const [payout, transfer] = await Promise.all([lockPayout(db, space, id), lockBankTransfer(db, space, id)])
    const service = clock.service(environment)
    const visit = payout && transfer && (await become({ db, payout, transfer, service }))
    if (!visit) return undefined
    pipelined(updateBankTransfer(db, space, id, visit.transfer))
    if (visit.payout) {
      const events = collectEvents({ tenantId: space, pin, now: service })
      await writeChange({ db, space, events }, payout, visit.payout)
      const writing = events.write(db)
      pipelined(
        appendAudit(db, space, systemEntry(environment, `payout.${visit.payout.status}`, id, service)),
      )
      isDue = await writing
    }
    return visit.result
  })
  if (isDue) wakeUpChannel.publish(environment, space)
  return result
}
