import type { ScansHandlers, TestPassesHandlers } from '../../../generated/canonical/handlers.ts'
import { notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { listScans, readScan } from './queries.ts'
import { recordScan, type ScanReading, showScan } from './recording.ts'

export const scansHandlers = {
  async createScan(context, { body }) {
    requireOneName(body)
    return { status: 201, body: await recordScan(context, body) }
  },

  listScans: (context, { query }) => answerList(context, query, listScans, showScan),

  async getScan({ caller, db }, { path }) {
    const row = await readScan(db, caller.space, path.scan_id)
    if (!row) throw notFound()
    return { status: 200, body: showScan(row) }
  },

  async simulateScan(context, { body }) {
    return { status: 201, body: await recordScan(context, { ...body, mode: body.mode ?? 'verify' }) }
  },
} satisfies ScansHandlers<Context> & Pick<TestPassesHandlers<Context>, 'simulateScan'>

function requireOneName({ pass_id, barcode_message }: ScanReading): void {
  if (pass_id === undefined && barcode_message === undefined) {
    throw validationFailed([{ field: 'pass_id', issue: 'is required if barcode_message is absent' }])
  }
  if (pass_id !== undefined && barcode_message !== undefined) {
    throw validationFailed([{ field: 'barcode_message', issue: 'must be absent if pass_id is present' }])
  }
}
