import type { SettlementsHandlers } from '../../../generated/canonical/handlers.ts'
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { listLines, listSettlements, readSettlement } from '../settlement-lines/queries.ts'
import { showLine, showSettlement } from '../settlement-lines/view.ts'

export const settlementsHandlers = {
  listSettlements: (context, { query }) => answerList(context, query, listSettlements, showSettlement),

  async getSettlement({ caller, db }, { path }) {
    const row = await readSettlement(db, caller.space, path.settlement_id)
    if (!row) throw notFound()
    return { status: 200, body: showSettlement(row) }
  },

  async listSettlementLines(context, { path, query }) {
    const { settlement_id } = path
    return answerList(
      context,
      query,
      async (db, space, filter, page) => {
        if (!(await readSettlement(db, space, settlement_id))) throw notFound()
        return listLines(db, space, { ...filter, settlement_id: [settlement_id] }, page)
      },
      showLine,
    )
  },
} satisfies SettlementsHandlers<Context>
