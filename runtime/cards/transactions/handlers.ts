import type { CardTransactionsHandlers } from '../../../generated/canonical/handlers.ts'
import { notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { checkMetadata, mergePatch } from '../../api/json/merge-patch.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { changeCardTransaction } from './changes.ts'
import { withMessage } from './messages.ts'
import { type CardTransactionRow, listCardTransactions, readCardTransaction } from './queries.ts'
import { ownMessage, requireHeld, requireRoom } from './states.ts'
import { showCardTransaction } from './view.ts'

export const cardTransactionsHandlers = {
  listCardTransactions: (context, { query }) =>
    answerList(context, query, listCardTransactions, showCardTransaction),

  async getCardTransaction({ caller, db }, { path }) {
    const row = await readCardTransaction(db, caller.space, path.card_transaction_id)
    if (!row) throw notFound()
    return { status: 200, body: showCardTransaction(row) }
  },

  async updateCardTransaction(context, { path, body }) {
    const annotate = (row: CardTransactionRow): CardTransactionRow => {
      const given = body.metadata
      const metadata = (
        given === null ? {} : mergePatch(row.metadata, given ?? {})
      ) as CardTransactionRow['metadata']
      const faults = checkMetadata(metadata)
      if (faults.length > 0) throw validationFailed(faults)
      return { ...row, metadata, updated: context.request.now }
    }
    const row = await changeCardTransaction(
      context,
      path.card_transaction_id,
      'card.transaction.updated',
      annotate,
    )
    return { status: 200, body: showCardTransaction(row) }
  },

  async releaseCardTransaction(context, { path }) {
    const row = await changeCardTransaction(
      context,
      path.card_transaction_id,
      'card.transaction.reversed',
      (before) => {
        const step = requireHeld(before, { kind: 'release', amount: before.held })
        return requireRoom(withMessage(before, ownMessage(before, step, context.request.now)))
      },
    )
    return { status: 200, body: showCardTransaction(row) }
  },
} satisfies CardTransactionsHandlers<Context>
