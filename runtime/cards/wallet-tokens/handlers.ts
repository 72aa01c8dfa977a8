import type { WalletTokensHandlers } from '../../../generated/canonical/handlers.ts'
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { changeStatus, showWalletToken, writeToken } from './changes.ts'
import { listWalletTokens, lockWalletToken, readWalletToken } from './queries.ts'

export const walletTokensHandlers = {
  listWalletTokens: (context, { query }) => answerList(context, query, listWalletTokens, showWalletToken),

  async getWalletToken({ caller, db }, { path }) {
    const token = await readWalletToken(db, caller.space, path.wallet_token_id)
    if (!token) throw notFound()
    return { status: 200, body: showWalletToken(token) }
  },

  async updateWalletToken(context, { path, body }) {
    const { caller, db, request } = context
    const token = await lockWalletToken(db, caller.space, path.wallet_token_id)
    if (!token) throw notFound()
    const changed = changeStatus(token, body.status ?? token.status, request.now)
    return { status: 200, body: writeToken(context, token, changed) }
  },
} satisfies WalletTokensHandlers<Context>
