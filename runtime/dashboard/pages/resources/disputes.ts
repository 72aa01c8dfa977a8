import { extname } from 'node:path'
import { filters } from '../../../../generated/canonical/records.ts'
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { readCents, writeCents } from '../../engine/bodies.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type Files, type FormField, type LinkTo, resource } from '../../engine/shapes.ts'
import { code, money, orDash, state, when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { inState, TRANSACTION } from './suggestions.ts'

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
    label: 'What happened',
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
      ...(index === 0 && { hint: 'PDF, PNG or JPEG, up to 1 MB each.' }),
    }),
  ),
]

const TYPES: Readonly<Record<string, string>> = {
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
}

/** The documents that were chosen; undefined without one. */
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
  intro: 'Transactions that your cardholders contest.',
  list: {
    operation: 'listDisputes',
    columns: [
      { title: 'Dispute', show: ({ id }) => code(id) },
      { title: 'Amount', show: ({ amount, currency }) => money(amount, currency) },
      { title: 'Reason', show: ({ reason }) => words(reason) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Due', show: ({ submission_deadline }) => when(submission_deadline) },
    ],
    filters: { status: 'State' },
    empty: 'No dispute. A transaction that has cleared can be disputed here.',
  },
  create: {
    operation: 'createDispute',
    title: 'Dispute a transaction',
    button: 'Dispute',
    fields: [
      {
        name: 'card_transaction_id',
        label: 'Transaction',
        suggest: inState(TRANSACTION, 'cleared'),
        hint: 'The identifier of one that has cleared.',
      },
      REASON,
      {
        name: 'amount',
        label: 'Amount',
        kind: 'amount',
        optional: true,
        hint: 'Such as 12.50. Empty: all of it.',
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
      ['State', state(dispute.status)],
      ['Amount', money(dispute.amount, dispute.currency)],
      ['Reason', words(dispute.reason)],
      ['What happened', orDash(dispute.evidence.explanation)],
      ['Submit by', when(dispute.submission_deadline)],
      ['Submitted', when(dispute.submitted_at)],
      ['Closed', when(dispute.closed_at)],
    ],
    actions: [
      {
        name: 'evidence',
        operation: 'updateDispute',
        button: 'Change',
        warning: 'Documents that you choose here stand instead of those that were sent before.',
        fields: [REASON, { name: 'amount', label: 'Amount', kind: 'amount' }, ...EVIDENCE],
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
        button: 'Submit',
        warning: 'The evidence goes to the network as it is now, and cannot be changed afterwards.',
        when: ({ status }) => status === 'unsubmitted',
      },
      {
        name: 'withdraw',
        operation: 'withdrawDispute',
        button: 'Withdraw',
        warning: 'What was credited for the time being is taken back. This cannot be undone.',
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
          html`<p>${link(`simulator/dispute-outcome?dispute_id=${id}`, 'How it ends')}</p>`,
      },
    ],
  },
})

function writeDocuments({ evidence: { files } }: Dispute, _visit: DashboardVisit, link: LinkTo): Html {
  if (files.length === 0) return html`<p class="empty">None. An invoice or a letter says more than words.</p>`
  return writeTable(
    'Documents',
    [
      { title: 'Name', show: ({ name }) => name },
      { title: 'Type', show: ({ content_type }) => content_type },
      { title: 'Bytes', show: ({ size }) => String(size) },
      { title: 'SHA-256', show: ({ sha256 }) => code(sha256) },
    ],
    files,
    link,
  )
}
