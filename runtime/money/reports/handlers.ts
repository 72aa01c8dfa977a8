import type { TreasuryReportsHandlers } from '../../../generated/canonical/handlers.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { readInterval } from '../../api/interval.ts'
import { answerList } from '../../api/lists/list-query.ts'
import type { ListReader } from '../../database/define-list.ts'
import type { CreatedRange } from '../../database/page.ts'
import { newId } from '../../platform/ids.ts'
import { countPending, insertReport, isShownIn, listReports, type ReportRow, readReport } from './queries.ts'
import { showReport } from './view.ts'

/** Maximum number of pending reports of a tenant. Further requests are refused. */
const MAX_PENDING = 20

export const treasuryReportsHandlers = {
  async createTreasuryReport({ caller, db, links, request }, { body }) {
    const { now } = request
    const interval = readInterval(body, now)
    if (body.type === 'statement') requireMonth(interval)
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
    const { caller, links, request } = context
    const list: ListReader<ReportRow, typeof query & { readonly created: CreatedRange }> = (
      db,
      space,
      filter,
      page,
    ) => listReports(db, space, { ...filter, version: request.version }, page)
    return answerList(context, query, list, (row) => showReport(row, caller.space, links.reports))
  },

  async getTreasuryReport({ caller, db, links, request }, { path }) {
    const row = await readReport(db, caller.space, path.treasury_report_id)
    if (!row || !isShownIn(request.version, row)) throw notFound()
    return { status: 200, body: showReport(row, caller.space, links.reports) }
  },
} satisfies TreasuryReportsHandlers<Context>

/** Throws `validation_failed` if the interval of a statement is not a calendar month in UTC. */
function requireMonth({ interval_start, interval_end }: Pick<ReportRow, 'interval_start' | 'interval_end'>) {
  const day = new Date(interval_start)
  const [year, month] = [day.getUTCFullYear(), day.getUTCMonth()]
  if (interval_start === Date.UTC(year, month) && interval_end === Date.UTC(year, month + 1)) return
  const issue = 'must be a month after interval_start, which is the beginning of a calendar month in UTC'
  throw validationFailed([{ field: 'interval_end', issue }])
}
