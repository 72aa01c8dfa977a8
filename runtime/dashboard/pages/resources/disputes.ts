import { extname } from 'node:path'
import { filters } from '../../../../generated/canonical/records.ts'
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { readCents, writeCents } from '../../engine/bodies.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type Files, type FormField, type LinkTo, resource } from '../../engine/shapes.ts'
import { code, money, orDash, state, when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { TRANSACTION } from '../pickers/pickable.ts'

type Dispute = components['schemas']['Dispute']

const REASON: FormField = {
  name: 'reason',
  label: 'Reason',
  kind: 'choice',
  options: filters.listDisputes.reason.map((reason) => [reason, words(reason)] as const),
}

const FILES = ['file1', 'file2', 'file3', 'file4', 'file5'] as const

const EVIDENCE: readonly FormField[] = [
  {
    name: 'explanation',
    of: ['evidence.explanation', 'evidence'],
    label: 'Explanation',
    kind: 'lines',
    optional: true,
  },
  ...FILES.map(
    (name, index): FormField => ({
      name,
      of: index === 0 ? ['evidence.files'] : [],
      label: `Document ${index + 1}`,
      kind: 'file',
      accept: '.pdf,.png,.jpg,.jpeg',
      optional: true,
      ...(index === 0 && { hint: 'PDF, PNG, or JPEG, up to 1 MB each.' }),
    }),
  ),
]

const TYPES: Readonly<Record<string, string>> = {
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
}

/** Returns the selected documents, or undefined if no file is selected. */
function readDocuments(files: Files): object[] | undefined {
  const documents = FILES.flatMap((field) => files(field) ?? []).map(({ name, bytes }) => ({
    name,
    content_type: TYPES[extname(name).toLowerCase()] ?? 'application/octet-stream',
    content: bytes.toString('base64'),
  }))
  return documents.length === 0 ? undefined : documents
}

export const DISPUTES = resource<Dispute>({
  path: 'disputes',
  title: 'Disputes',
  intro: 'Cleared transactions that your cardholders dispute.',
  list: {
    operation: 'listDisputes',
    columns: [
      { title: 'Dispute', show: ({ id }) => code(id) },
      { title: 'Amount', show: ({ amount, currency }) => money(amount, currency) },
      { title: 'Reason', show: ({ reason }) => words(reason) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Submit by', show: ({ submission_deadline }) => when(submission_deadline) },
    ],
    filters: { status: 'Status' },
    empty: 'No disputes yet. You can dispute a transaction after it clears.',
  },
  create: {
    operation: 'createDispute',
    title: 'Dispute transaction',
    button: 'Create dispute',
    fields: [
      {
        name: 'card_transaction_id',
        label: 'Transaction',
        pick: TRANSACTION,
        status: 'cleared',
        hint: 'Only cleared transactions can be disputed.',
      },
      REASON,
      {
        name: 'amount',
        label: 'Amount (USD)',
        kind: 'amount',
        optional: true,
        hint: 'Leave empty to dispute the full amount.',
      },
      ...EVIDENCE,
    ],
    body: ({ card_transaction_id, reason, amount, explanation }, files) => {
      const documents = readDocuments(files)
      const evidence = { ...(explanation && { explanation }), ...(documents && { files: documents }) }
      return { card_transaction_id, reason, evidence, ...(amount && { amount: readCents(amount) }) }
    },
  },
  detail: {
    operation: 'getDispute',
    parameter: 'dispute_id',
    name: ({ id }) => id,
    facts: (dispute, link) => [
      ['Transaction', link.to(dispute.card_transaction_id)],
      ['Status', state(dispute.status)],
      ['Amount', money(dispute.amount, dispute.currency)],
      ['Reason', words(dispute.reason)],
      ['Explanation', orDash(dispute.evidence.explanation)],
      ['Submit by', when(dispute.submission_deadline)],
      ['Submitted', when(dispute.submitted_at)],
      ['Closed', when(dispute.closed_at)],
    ],
    actions: [
      {
        name: 'evidence',
        operation: 'updateDispute',
        button: 'Edit dispute',
        warning: 'If you select documents here, they replace all documents that you uploaded before.',
        fields: [REASON, { name: 'amount', label: 'Amount (USD)', kind: 'amount' }, ...EVIDENCE],
        values: ({ reason, amount, evidence }) => ({
          reason,
          amount: writeCents(amount),
          explanation: evidence.explanation ?? '',
        }),
        body: ({ reason, amount = '', explanation }, files) => {
          const documents = readDocuments(files)
          const evidence = { explanation: explanation || null, ...(documents && { files: documents }) }
          return { reason, amount: readCents(amount), evidence }
        },
        when: ({ status }) => status === 'unsubmitted',
      },
      {
        name: 'submit',
        operation: 'submitDispute',
        button: 'Submit dispute',
        warning:
          'The evidence is sent to the card network. You cannot change it after you submit the dispute.',
        when: ({ status }) => status === 'unsubmitted',
      },
      {
        name: 'withdraw',
        operation: 'withdrawDispute',
        button: 'Withdraw dispute',
        warning: 'The provisional credit is reversed. You cannot undo this.',
        isDanger: true,
        when: ({ status }) => ['unsubmitted', 'submitted'].includes(status),
      },
    ],
    sections: [
      { title: 'Documents', write: writeDocuments },
      {
        title: 'Simulate',
        environment: 'sandbox',
        write: ({ id }, _visit, link) =>
          html`<p>${link(`simulator/dispute-outcome?dispute_id=${id}`, 'Simulate the outcome')}</p>`,
      },
    ],
  },
})

function writeDocuments({ evidence: { files } }: Dispute, _visit: DashboardVisit, link: LinkTo): Html {
  if (files.length === 0)
    return html`<p class="empty">No documents yet. Add receipts, invoices, or correspondence as evidence.</p>`
  return writeTable(
    'Documents',
    [
      { title: 'Name', show: ({ name }) => name },
      { title: 'Type', show: ({ content_type }) => content_type },
      { title: 'Size (bytes)', show: ({ size }) => String(size) },
      { title: 'SHA-256', show: ({ sha256 }) => code(sha256) },
    ],
    files,
    link,
  )
}
