import type { components } from '../../../../generated/canonical/types.ts'
import { resource } from '../../engine/shapes.ts'
import { code, when } from '../../engine/values.ts'

export const PASS_MESSAGES = resource<components['schemas']['PassMessage']>({
  path: 'pass-messages',
  title: 'Pass messages',
  intro: 'Pass messages of your account.',
  list: {
    operation: 'listPassMessages',
    columns: [
      { title: 'Identifier', show: ({ id }) => code(id) },
      { title: 'State', show: ({ status }) => status },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { pass_id: 'Pass id', pass_message_batch_id: 'Pass message batch id', status: 'Status' },
    empty: 'None yet.',
  },
  detail: {
    operation: 'getPassMessage',
    parameter: 'pass_message_id',
    name: ({ id }) => id,
    facts: (record) => [
      ['Id', code(record.id)],
      ['Pass id', String(record.pass_id)],
      ['Pass message batch id', String(record.pass_message_batch_id ?? '–')],
      ['Header', String(record.header)],
      ['Body', String(record.body)],
      ['Translations', JSON.stringify(record.translations)],
      ['Starts at', when(record.starts_at)],
      ['Ends at', when(record.ends_at)],
      ['Status', String(record.status)],
      ['Reason', String(record.reason ?? '–')],
      ['Sent at', when(record.sent_at)],
      ['Created', when(record.created)],
      ['Updated', when(record.updated)],
    ],
  },
})
