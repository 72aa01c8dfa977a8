import type { BalanceHandlers, TestCardsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { type Funds, lockFunds, readAccount } from '../../ledger/accounts.ts'
import { exceedsBounds, post } from '../../ledger/post.ts'
import { newId } from '../../platform/ids.ts'

/** The most that the interface can show, in cents. */
const MAX_BALANCE = 1_000_000_000_000_000

export const balanceHandlers = {
  async getBalance({ caller, db }) {
    const [funds, payable] = await Promise.all([
      readAccount(db, caller.space, 'program_funds'),
      readAccount(db, caller.space, 'settlement_payable'),
    ])
    return { status: 200, body: showBalance(funds, payable.balance) }
  },

  async simulateFunding({ caller, db, request }, { body }) {
    const { amount } = body
    const [funds, payable] = await Promise.all([
      lockFunds(db, caller.space),
      readAccount(db, caller.space, 'settlement_payable'),
    ])
    const balance = funds.balance + amount
    if (balance > MAX_BALANCE) {
      throw validationFailed([{ field: 'amount', issue: `would take the balance beyond ${MAX_BALANCE}` }])
    }
    const transfer = { from: 'bank', to: 'program_funds', amount } as const
    await post(db, caller.space, newId('len', request.now), { transfer }, request.now).catch(
      (error: unknown) => {
        if (!exceedsBounds(error)) throw error
        const issue = 'would take all that was ever funded beyond what the ledger can hold'
        throw validationFailed([{ field: 'amount', issue }])
      },
    )
    return { status: 200, body: showBalance({ ...funds, balance }, payable.balance) }
  },
} satisfies BalanceHandlers<Context> & Pick<TestCardsHandlers<Context>, 'simulateFunding'>

function showBalance({ balance, held }: Funds, payable: number): components['schemas']['Balance'] {
  return { object: 'balance', currency: 'usd', available: balance - held, held, payable }
}
