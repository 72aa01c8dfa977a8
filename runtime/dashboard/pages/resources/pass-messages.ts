import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeTable } from '../../engine/list-page.ts'
import { type ApiPage, type FormField, type LinkTo, type ListColumn, resource } from '../../engine/shapes.ts'
import { code, exactly, orDash, state, when, words } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { PASS, TEMPLATE } from '../pickers/pickable.ts'

type Schemas = components['schemas']
type PassMessage = Schemas['PassMessage']
type PassMessageBatch = Schemas['PassMessageBatch']

/** Fields of a form with a message. */
export const MESSAGE_FIELDS: readonly FormField[] = [
  { name: 'header', label: 'Heading' },
  { name: 'body', label: 'Text', kind: 'lines' },
]

const COLUMNS: readonly ListColumn<PassMessage>[] = [
  { title: 'Status', show: ({ status }) => state(status) },
  { title: 'Reason', show: ({ reason }) => (reason === null ? '–' : words(reason)) },
  { title: 'Created', show: ({ created }) => when(created) },
]

const contentFacts = ({ starts_at, ends_at, ...message }: PassMessage | PassMessageBatch) =>
  [
    ['Heading', message.header],
    ['Text', message.body],
    ['Languages', orDash(Object.keys(message.translations).join(', '))],
    ['Start', starts_at === null ? 'Immediately' : exactly(starts_at)],
    ['End', ends_at === null ? 'Never' : exactly(ends_at)],
  ] as const

export const PASS_MESSAGES = resource<PassMessage>({
  path: 'pass-messages',
  menu: 'passes',
  title: 'Pass messages',
  intro: 'Messages to the holders of passes. Send one on the page of a pass.',
  list: {
    operation: 'listPassMessages',
    columns: [
      { title: 'Heading', show: ({ header }) => header },
      { title: 'Pass', show: ({ pass_id }, link) => link.to(pass_id) },
      ...COLUMNS,
    ],
    filters: {
      status: 'Status',
      pass_id: { label: 'Pass', pick: PASS },
      pass_message_batch_id: 'Batch ID',
    },
    empty: 'No messages yet. Open a pass to send a message to its holder.',
    above: ({ environment }) => html`<p><a href="/${environment}/pass-message-batches">View batches</a></p>`,
  },
  detail: {
    operation: 'getPassMessage',
    parameter: 'pass_message_id',
    name: ({ header }) => header,
    status: ({ status }) => status,
    facts: (message, link) => [
      ['Pass', link.to(message.pass_id)],
      ['Batch', link.to(message.pass_message_batch_id)],
      ...contentFacts(message),
      ...(message.reason === null ? [] : [['Reason', words(message.reason)] as const]),
      ['Sent', message.sent_at === null ? '–' : when(message.sent_at)],
      ['Created', when(message.created)],
      ['ID', code(message.id)],
    ],
  },
})

/** Number of messages on the page of a pass. */
const SHOWN = '10'

/** Writes the newest messages of a pass. */
export async function writeMessages(
  { id, messages_opted_out_at }: Schemas['Pass'],
  visit: DashboardVisit,
  link: LinkTo,
): Promise<Html> {
  const { data } = await visit.read<ApiPage<PassMessage>>('listPassMessages', {
    query: { pass_id: id, limit: SHOWN },
  })
  const opened: ListColumn<PassMessage> = {
    title: 'Heading',
    show: ({ id, header }, to) => to(`pass-messages/${id}`, header),
  }
  return html`${messages_opted_out_at !== null && messages_opted_out_at !== undefined && html`<p>The holder has turned messages off.</p>`}
${
  data.length === 0
    ? html`<p class="empty">No messages yet.</p>`
    : writeTable('Messages', [opened, ...COLUMNS], data, link)
}`
}

const isOpen = ({ status }: PassMessageBatch) => status === 'queuing' || status === 'sending'

const STATUSES = ['issued', 'installed', 'active'].map((each) => [each, words(each)] as const)

export const PASS_MESSAGE_BATCHES = resource<PassMessageBatch>({
  path: 'pass-message-batches',
  menu: 'passes',
  title: 'Message batches',
  intro: 'One message to the holders of many passes.',
  list: {
    operation: 'listPassMessageBatches',
    columns: [
      { title: 'Heading', show: ({ header }) => header },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Sent', isAmount: true, show: ({ sent }) => sent.toLocaleString('en') },
      { title: 'Skipped', isAmount: true, show: ({ skipped }) => skipped.toLocaleString('en') },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status' },
    empty: 'No batches yet. Send a message to all holders of a template.',
  },
  create: {
    operation: 'createPassMessageBatch',
    title: 'Send message to many holders',
    button: 'Send message',
    fields: [
      {
        name: 'template_id',
        label: 'Template',
        pick: TEMPLATE,
        optional: true,
        hint: 'Leave it empty for all templates.',
      },
      {
        name: 'status',
        label: 'Status of the passes',
        kind: 'choice',
        options: [['', 'All'], ...STATUSES],
        optional: true,
      },
      ...MESSAGE_FIELDS,
    ],
    body: ({ template_id, status, header, body }) => ({
      filter: { ...(template_id && { template_id }), ...(status && { status }) },
      header,
      body,
    }),
  },
  detail: {
    operation: 'getPassMessageBatch',
    parameter: 'pass_message_batch_id',
    name: ({ header }) => header,
    status: ({ status }) => status,
    facts: (batch, link) => [
      ['Template', batch.filter.template_id === undefined ? 'All' : link.to(batch.filter.template_id)],
      ['Status of the passes', batch.filter.status === undefined ? 'All' : words(batch.filter.status)],
      ...contentFacts(batch),
      ['Messages', batch.total.toLocaleString('en')],
      ['Sent', batch.sent.toLocaleString('en')],
      ['Skipped', batch.skipped.toLocaleString('en')],
      ['Created', when(batch.created)],
      ['ID', code(batch.id)],
    ],
    actions: [
      {
        name: 'cancel',
        operation: 'cancelPassMessageBatch',
        button: 'Cancel batch',
        warning: 'Messages that are not sent yet are skipped.',
        isDanger: true,
        when: isOpen,
      },
    ],
  },
})
