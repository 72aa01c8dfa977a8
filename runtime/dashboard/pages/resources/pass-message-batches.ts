import type { components } from '../../../../generated/canonical/types.ts'
import { resource } from '../../engine/shapes.ts'
import { code, when } from '../../engine/values.ts'

export const PASS_MESSAGE_BATCHES = resource<components['schemas']['PassMessageBatch']>({
  path: 'pass-message-batches',
  title: 'Pass message batches',
  intro: 'Pass message batches of your account.',
  list: {
    operation: 'listPassMessageBatches',
    columns: [
      { title: 'Identifier', show: ({ id }) => code(id) },
      { title: 'State', show: ({ status }) => status },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status' },
    empty: 'None yet.',
  },
  create: {
    operation: 'createPassMessageBatch',
    title: 'Send a message to many holders',
    button: 'Create',
    fields: [
      { name: 'header', label: 'Header' },
      { name: 'body', label: 'Body' },
      { name: 'starts_at', label: 'Starts at', optional: true },
      { name: 'ends_at', label: 'Ends at', optional: true },
    ],
  },
  detail: {
    operation: 'getPassMessageBatch',
    parameter: 'pass_message_batch_id',
    name: ({ id }) => id,
    facts: (record) => [
      ['Id', code(record.id)],
      ['Filter', JSON.stringify(record.filter)],
      ['Header', String(record.header)],
      ['Body', String(record.body)],
      ['Translations', JSON.stringify(record.translations)],
      ['Starts at', when(record.starts_at)],
      ['Ends at', when(record.ends_at)],
      ['Status', String(record.status)],
      ['Total', String(record.total)],
      ['Sent', String(record.sent)],
      ['Skipped', String(record.skipped)],
      ['Created', when(record.created)],
      ['Updated', when(record.updated)],
    ],
  },
})
