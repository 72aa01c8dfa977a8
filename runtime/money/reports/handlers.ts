import type { Detail } from 'dateline/runtime'
import type { TreasuryReportsHandlers } from '../../../generated/canonical/handlers.ts'
import { invalidState, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import type { ListReader } from '../../database/define-list.ts'
import type { CreatedRange } from '../../database/page.ts'
import { newId } from '../../platform/ids.ts'
import { parseInstant, writeInstant } from '../../platform/instants.ts'
import { countPending, insertReport, isShownIn, listReports, type ReportRow, readReport } from './queries.ts'
import { showReport } from './view.ts'

/** Maximum number of pending reports of a tenant. Further requests are refused. */
const MAX_PENDING = 20

/** Five years, including leap days. */
const MAX_INTERVAL_MS = (5 * 365 + 2) * 86_400_000

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

type Interval = Pick<ReportRow, 'interval_start' | 'interval_end'>

/**
 * Reads the interval. Throws `validation_failed` if it is empty, too long, or not over yet, or if a statement is not of a
 * calendar month.
 * @param now service time.
 */
function readInterval(
  body: Readonly<Record<keyof Interval, string>> & Pick<ReportRow, 'type'>,
  now: number,
): Interval {
  const { type } = body
  const faults: Detail[] = []
  const read = (field: keyof Interval) => {
    const instant = parseInstant(body[field])
    if (instant === undefined)
      faults.push({ field, issue: 'must be a UTC timestamp in the years 0001 to 9999' })
    return Math.ceil(instant ?? 0) // ledger entries are dated in whole milliseconds
  }
  const [interval_start, interval_end] = [read('interval_start'), read('interval_end')]
  const refuse = (issue: string) => faults.push({ field: 'interval_end', issue })
  if (faults.length === 0) {
    if (interval_end <= interval_start) refuse('must be after interval_start')
    else if (interval_end - interval_start > MAX_INTERVAL_MS)
      refuse('must be at most five years after interval_start')
    else if (type === 'statement' && !isMonth(interval_start, interval_end))
      refuse('must be a month after interval_start, which is the beginning of a calendar month in UTC')
    else if (interval_end > now)
      refuse(`must not be in the future: the service clock is at ${writeInstant(now)}`)
  }
  if (faults.length > 0) throw validationFailed(faults)
  return { interval_start, interval_end }
}

/** Whether an interval is a calendar month in UTC. */
function isMonth(start: number, end: number): boolean {
  const day = new Date(start)
  const [year, month] = [day.getUTCFullYear(), day.getUTCMonth()]
  return start === Date.UTC(year, month) && end === Date.UTC(year, month + 1)
}
