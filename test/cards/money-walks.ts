/** Ways in which the settlement clock of an account can come to the same time, and what is there then. */
import { holdExpiryWorker } from '../../runtime/cards/transactions/expiry-job.ts'
import { activationWorker } from '../../runtime/money/destinations/activation-job.ts'
import { settlementWorker } from '../../runtime/money/settlements/job.ts'
import { strictLog } from '../support/strict-log.ts'
import type { Account, Answered } from './money-account.ts'

const HOUR_MS = 3_600_000

/** Longer than anything that is held or settled. */
const WALK_MS = 288 * HOUR_MS

const advance = async ({ send }: Account, body: object): Promise<Answered['body']> =>
  (await send('/v1/test/settlements/advance_clock', body)).body

/** By what is due next, until nothing is. */
export async function walkInSteps(account: Account): Promise<void> {
  for (let at = ''; ; ) {
    const { now } = await advance(account, {})
    if (now === at) return
    at = now
  }
}

export async function walkAtOnce(account: Account): Promise<void> {
  await advance(account, { seconds: WALK_MS / 1000 })
}

/** By the service clock, as workers find it that look now and then. */
export async function walkByWorkers({ service: { database, sanctions, clock } }: Account): Promise<void> {
  for (const hours of [1, 5, 24, 25, 49, 200, 288]) {
    const now = clock.now + hours * HOUR_MS
    const parts = {
      ...{ database, sanctions, log: strictLog, wakeUpChannel: { publish: () => {} } },
      clock: { machine: clock.machine, service: () => now },
    }
    await settlementWorker(parts).runOnce()
    await activationWorker(parts).runOnce()
    await holdExpiryWorker(parts).runOnce()
  }
}

/** What an account has, without identifiers and times of the service clock. */
export async function endOf({ service, tenantId, send, list, ...made }: Account) {
  const shown = (path: string, ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await send(`/v1/${path}/${id}`)).body))
  const told = await list('/v1/events')
  const payouts = told.filter(({ type }) => type === 'payout.created').map(({ data }) => data.payout.id)
  const { rows: ledger } = await service.database.control.query(
    {
      text: `SELECT account_id, amount FROM sandbox.ledger_entries WHERE tenant_id = $1 ORDER BY account_id, amount`,
    },
    [tenantId],
  )
  const { available, held, payable } = (await send('/v1/balance')).body
  return {
    balance: { available, held, payable },
    ledger,
    transactions: (await shown('card_transactions', made.transactions)).map(({ status, amounts }) => ({
      ...{ status, amounts },
    })),
    payouts: (await shown('payouts', payouts)).map(({ status, amount }) => ({ status, amount })),
    destinations: (await shown('payout_destinations', made.destinations)).map(
      ({ status, default: isDefault }) => ({
        ...{ status, isDefault },
      }),
    ),
    settlements: (await list('/v1/settlements')).map(({ id: _, payout_id, lines, ...settlement }) => ({
      ...settlement,
      isPaid: payout_id !== null,
      lines: lines
        .map(({ type, amount, created }: Answered['body']) => `${created} ${type} ${amount}`)
        .toSorted(),
    })),
    told: told.map(({ type, data }) => {
      const [{ status, amount }] = Object.values<{ status: string; amount?: number }>(data) as [
        Answered['body'],
      ]
      return `${type} ${status} ${amount}`
    }),
  }
}
