import type { BalanceHandlers, TestCardsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { invalidParameter, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import type { Database } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { newId } from '../../platform/ids.ts'
import { parseInstant, writeInstant } from '../../platform/instants.ts'
import { type Funds, lockFunds, readAccount } from '../ledger/accounts.ts'
import { readHeldBefore } from '../ledger/held.ts'
import { readBalanceBefore } from '../ledger/positions.ts'
import { post } from '../ledger/post.ts'
import { MAX_AMOUNT } from '../settlement-lines/bounds.ts'
import { readAlert, setAlert, showAlert } from './alert-queries.ts'
import { listBalanceEntries, showBalanceEntry, shown } from './entries.ts'

export const balanceHandlers = {
  async getBalance({ caller, db, request }, { query }) {
    if (query.at !== undefined) {
      const instant = readInstant(query.at, request.now)
      return { status: 200, body: await showBalanceBefore(db, caller.space, instant) }
    }
    const [funds, payable] = await Promise.all([
      readAccount(db, caller.space, 'program_funds'),
      readAccount(db, caller.space, 'settlement_payable'),
    ])
    return { status: 200, body: showBalance(funds, payable.balance) }
  },

  listBalanceEntries: (context, { query }) =>
    answerList(context, query, listBalanceEntries, showBalanceEntry),

  async getBalanceAlert({ caller, db }) {
    return { status: 200, body: showAlert(await readAlert(db, caller.space)) }
  },

  async putBalanceAlert({ caller, db, request }, { body }) {
    return { status: 200, body: showAlert(await setAlert(db, caller.space, body.threshold, request.now)) }
  },

  async simulateFunding({ caller, db, request }, { body }) {
    const { amount } = body
    const [funds, payable] = await Promise.all([
      lockFunds(db, caller.space),
      readAccount(db, caller.space, 'settlement_payable'),
    ])
    const balance = funds.balance + amount
    if (balance > MAX_AMOUNT) {
      throw validationFailed([
        { field: 'amount', issue: `would raise the balance above the maximum of ${MAX_AMOUNT}` },
      ])
    }
    const transfer = { from: 'bank', to: 'program_funds', amount } as const
    pipelined(post(db, caller.space, newId('len', request.now), { transfer }, request.now))
    return { status: 200, body: showBalance({ ...funds, balance }, payable.balance) }
  },
} satisfies BalanceHandlers<Context> & Pick<TestCardsHandlers<Context>, 'simulateFunding'>

function showBalance({ balance, held }: Funds, payable: number): components['schemas']['Balance'] {
  return {
    object: 'balance',
    currency: 'usd',
    available: shown(balance - held),
    held,
    payable: shown(payable),
  }
}

/** @param now service time. @throws ApiError `invalid_format`, or `out_of_range` if the instant is in the future. */
function readInstant(at: string, now: number): number {
  const instant = parseInstant(at)
  if (instant === undefined)
    throw invalidParameter('invalid_format', 'at', 'at must be a date or an RFC 3339 timestamp.')
  if (instant > now) {
    const message = `at must not be in the future: the service clock is at ${writeInstant(now)}.`
    throw invalidParameter('out_of_range', 'at', message)
  }
  return Math.ceil(instant) // ledger entries are dated in whole milliseconds
}

async function showBalanceBefore(
  db: Database,
  tenantId: string,
  instant: number,
): Promise<components['schemas']['Balance']> {
  const [balance, held, payable] = await Promise.all([
    readBalanceBefore(db, tenantId, 'program_funds', instant),
    readHeldBefore(db, tenantId, instant),
    readBalanceBefore(db, tenantId, 'settlement_payable', instant),
  ])
  return showBalance({ balance, held }, payable)
}
