import type { SettlementsHandlers } from '../../../generated/canonical/handlers.ts'
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { readCreated, readPage, showList } from '../../api/lists/list-query.ts'
import { listLines, listSettlements, readSettlement } from '../settlement-lines/queries.ts'
import { showLine, showSettlement } from '../settlement-lines/view.ts'

export const settlementsHandlers = {
  async listSettlements({ caller, db, cursors }, { query }) {
    const page = readPage(query, cursors)
    const filter = { created: readCreated(query), ...(query.status && { statuses: query.status }) }
    const records = await listSettlements(db, caller.space, filter, page)
    return { status: 200, body: showList(records, page, cursors, showSettlement) }
  },

  async getSettlement({ caller, db }, { path }) {
    const row = await readSettlement(db, caller.space, path.settlement_id)
    if (!row) throw notFound()
    return { status: 200, body: showSettlement(row) }
  },

  async listSettlementLines({ caller, db, cursors }, { path, query }) {
    const page = readPage(query, cursors)
    if (!(await readSettlement(db, caller.space, path.settlement_id))) throw notFound()
    const filter = {
      settlementId: path.settlement_id,
      created: readCreated(query),
      ...(query.type && { types: query.type }),
      ...(query.source_id && { sourceIds: query.source_id }),
    }
    const records = await listLines(db, caller.space, filter, page)
    return { status: 200, body: showList(records, page, cursors, showLine) }
  },
} satisfies SettlementsHandlers<Context>
