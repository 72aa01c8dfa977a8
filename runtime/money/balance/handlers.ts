import type { BalanceHandlers, TestCardsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { pipelined } from '../../database/pipelined.ts'
import { newId } from '../../platform/ids.ts'
import { type Funds, lockFunds, readAccount } from '../ledger/accounts.ts'
import { post } from '../ledger/post.ts'
import { MAX_AMOUNT } from '../settlement-lines/bounds.ts'
import { listBalanceEntries, showBalanceEntry, shown } from './entries.ts'

export const balanceHandlers = {
  async getBalance({ caller, db }) {
    const [funds, payable] = await Promise.all([
      readAccount(db, caller.space, 'program_funds'),
      readAccount(db, caller.space, 'settlement_payable'),
    ])
    return { status: 200, body: showBalance(funds, payable.balance) }
  },

  listBalanceEntries: (context, { query }) =>
    answerList(context, query, listBalanceEntries, showBalanceEntry),

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
