import type { components } from '../../../../generated/canonical/types.ts'
import { resource } from '../shape/shapes.ts'
import { code, orDash, state, when } from '../shape/values.ts'

type Entry = components['schemas']['AuditEntry']

export const AUDIT_LOG = resource<Entry>({
  path: 'audit-log',
  title: 'Audit log',
  intro:
    'Who did what. Each entry holds the hash of the one before, so none can be changed or left out unseen.',
  list: {
    operation: 'listAuditEntries',
    columns: [
      { title: 'Action', show: ({ action }) => code(action) },
      { title: 'By', show: ({ actor }) => `${actor.type} ${actor.id ?? ''}` },
      { title: 'What', show: ({ target_id }) => (target_id === null ? '–' : code(target_id)) },
      { title: 'Outcome', show: ({ outcome }) => state(outcome) },
      { title: 'From', show: ({ ip }) => orDash(ip) },
      { title: 'When', show: ({ created }) => when(created) },
    ],
    filters: [
      { name: 'action', label: 'Action' },
      { name: 'actor_id', label: 'Who' },
      { name: 'target_id', label: 'What' },
    ],
    empty: 'Nothing has been done yet.',
  },
})
