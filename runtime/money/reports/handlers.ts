import type { TreasuryReportsHandlers } from '../../../generated/canonical/handlers.ts'
import { invalidState, notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { readInterval } from '../../api/interval.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { newId } from '../../platform/ids.ts'
import { countPending, insertReport, listReports, type ReportRow, readReport } from './queries.ts'
import { showReport } from './view.ts'

/** Maximum number of pending reports of a tenant. Further requests are refused. */
const MAX_PENDING = 20

export const treasuryReportsHandlers = {
  async createTreasuryReport({ caller, db, links, request }, { body }) {
    const { now } = request
    const interval = readInterval(body, now)
    if ((await countPending(db, caller.space, MAX_PENDING)) >= MAX_PENDING) {
      throw invalidState(
        `The maximum of ${MAX_PENDING} reports are already pending. Wait until one of them is complete.`,
      )
    }
    const row: ReportRow = {
      id: newId('trp', now),
      type: body.type,
      ...interval,
      currency: body.currency ?? 'usd',
      version: request.version,
      status: 'pending',
      result: null,
      expires_at: null,
      failure_code: null,
      created: now,
      updated: now,
    }
    await insertReport(db, caller.space, row)
    return { status: 201, body: showReport(row, caller.space, links.reports) }
  },

  async listTreasuryReports(context, { query }) {
    const { caller, links } = context
    return answerList(context, query, listReports, (row) => showReport(row, caller.space, links.reports))
  },

  async getTreasuryReport({ caller, db, links }, { path }) {
    const row = await readReport(db, caller.space, path.treasury_report_id)
    if (!row) throw notFound()
    return { status: 200, body: showReport(row, caller.space, links.reports) }
  },
} satisfies TreasuryReportsHandlers<Context>
