import type { DisputesHandlers, TestCardsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { prepared } from '../../api/handler.ts'
import { checkMetadata, mergePatch } from '../../api/json/merge-patch.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { lockCardTransaction } from '../transactions/queries.ts'
import { changeDispute } from './changes.ts'
import { type ReadFile, readFiles } from './evidence.ts'
import {
  addDisputed,
  addFile,
  type DisputeRow,
  insertDispute,
  type LockedDispute,
  listDisputes,
  readDispute,
  removeFiles,
} from './queries.ts'
import {
  amountOf,
  close,
  requireInTime,
  requireUnsubmitted,
  review,
  SUBMISSION_MS,
  submit,
} from './states.ts'
import { showDispute } from './view.ts'

type Schemas = components['schemas']

const shown = (row: DisputeRow) => ({ status: 200 as const, body: showDispute(row) })

export const disputesHandlers = {
  createDispute: prepared(
    (_, { body }: { body: Schemas['DisputeCreate'] }) => readFiles(body.evidence?.files ?? []),
    async (context: Context, { body }, files) => {
      const row = await openDispute(context, body, files)
      return { status: 201 as const, body: showDispute(row) }
    },
  ),

  listDisputes: (context, { query }) => answerList(context, query, listDisputes, showDispute),

  async getDispute({ caller, db }, { path }) {
    const row = await readDispute(db, caller.space, path.dispute_id)
    if (!row) throw notFound()
    return shown(row)
  },

  updateDispute: prepared(
    async (_, { body }: { path: { dispute_id: string }; body: Schemas['DisputeUpdate'] }) =>
      readFiles(body.evidence?.files ?? []),
    async (context: Context, { path, body }, files) => {
      const { caller, db, request } = context
      const change = (locked: LockedDispute) => patch(locked, body, files, request.now)
      const row = await changeDispute(context, path.dispute_id, change)
      if (replacesFiles(body)) {
        pipelined(removeFiles(db, caller.space, row.id))
        writeFiles(context, row.id, files)
      }
      return shown(row)
    },
  ),

  async submitDispute(context, { path }) {
    const change = ({ dispute }: LockedDispute) => submit(dispute, context.request.now)
    return shown(await changeDispute(context, path.dispute_id, change))
  },

  async withdrawDispute(context, { path }) {
    const change = ({ dispute }: LockedDispute) => close(dispute, 'withdrawn', context.request.now)
    return shown(await changeDispute(context, path.dispute_id, change))
  },

  async simulateDisputeOutcome(context, { body: { dispute_id, outcome } }) {
    const { now } = context.request
    const change = ({ dispute }: LockedDispute) =>
      outcome === 'under_review' ? review(dispute, now) : close(dispute, outcome, now)
    const missing = () =>
      validationFailed([{ field: 'dispute_id', issue: 'does not identify an existing dispute' }])
    return shown(await changeDispute(context, dispute_id, change, missing))
  },
} satisfies DisputesHandlers<Context> & Pick<TestCardsHandlers<Context>, 'simulateDisputeOutcome'>

async function openDispute(
  context: Context,
  { card_transaction_id, amount: given, reason, evidence, metadata = {} }: Schemas['DisputeCreate'],
  files: readonly ReadFile[],
): Promise<DisputeRow> {
  const { caller, db, events, request } = context
  const { now } = request
  const transaction = await lockCardTransaction(db, caller.space, card_transaction_id)
  if (!transaction) {
    throw validationFailed([
      { field: 'card_transaction_id', issue: 'does not identify an existing card transaction' },
    ])
  }
  const amount = amountOf(transaction, given)
  const submission_deadline = transaction.cleared_at! + SUBMISSION_MS
  requireInTime(submission_deadline, now)
  const row: DisputeRow = {
    id: newId('dsp', now),
    card_transaction_id,
    amount,
    provisional_credit: 0,
    reason,
    status: 'unsubmitted',
    explanation: evidence?.explanation ?? null,
    files: files.map((file) => file.shown),
    metadata,
    submission_deadline,
    submitted_at: null,
    closed_at: null,
    created: now,
    updated: now,
  }
  pipelined(insertDispute(db, caller.space, row))
  writeFiles(context, row.id, files)
  pipelined(addDisputed(db, caller.space, card_transaction_id, amount))
  emit(events, { type: 'dispute.created', data: { dispute: showDispute(row) } })
  return row
}

function writeFiles({ db, caller }: Context, disputeId: string, files: readonly ReadFile[]): void {
  for (const [position, { content }] of files.entries()) {
    pipelined(addFile(db, caller.space, disputeId, position, content))
  }
}

const replacesFiles = ({ evidence }: Schemas['DisputeUpdate']): boolean =>
  evidence === null || evidence?.files !== undefined

/**
 * Applies a merge patch (RFC 7396). Metadata can always change; the other fields only before submission and before the
 * deadline.
 */
function patch(
  { dispute, transaction }: LockedDispute,
  body: Schemas['DisputeUpdate'],
  files: readonly ReadFile[],
  now: number,
): DisputeRow {
  const { metadata: given, amount, reason, evidence } = body
  const metadata = (given === null ? {} : mergePatch(dispute.metadata, given ?? {})) as DisputeRow['metadata']
  const faults = checkMetadata(metadata)
  if (faults.length > 0) throw validationFailed(faults)
  const annotated = { ...dispute, metadata, updated: now }
  if (amount === undefined && reason === undefined && evidence === undefined) return annotated
  requireUnsubmitted(dispute)
  requireInTime(dispute.submission_deadline, now)
  const explanation = evidence === null ? null : evidence?.explanation
  return {
    ...annotated,
    amount: amount === undefined ? dispute.amount : amountOf(transaction, amount, dispute.amount),
    reason: reason ?? dispute.reason,
    explanation: explanation === undefined ? dispute.explanation : explanation,
    files: replacesFiles(body) ? files.map((file) => file.shown) : dispute.files,
  }
}
