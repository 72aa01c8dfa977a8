import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { readDay } from '../../engine/bodies.ts'
import { resource } from '../../engine/shapes.ts'
import { code, state, when } from '../../engine/values.ts'
import { CARD, CARD_PROGRAM } from '../pickers/pickable.ts'
import { writeBacktests, writeShadow } from './spending-control-backtests.ts'
import {
  CONTROL_FIELDS,
  controlFacts,
  controlValues,
  readControls,
  writeLimits,
} from './spending-controls.ts'

type Draft = components['schemas']['SpendingControlDraft']

const isOpen = ({ status }: Draft) => status === 'draft'

export const SPENDING_CONTROL_DRAFTS = resource<Draft>({
  path: 'spending-control-drafts',
  menu: 'cards',
  title: 'Control drafts',
  intro: 'Try spending controls before they apply to your cards.',
  list: {
    operation: 'listSpendingControlDrafts',
    columns: [
      { title: 'Name', show: ({ name }) => name },
      { title: 'Status', show: ({ status }) => state(status) },
      {
        title: 'Cards',
        show: ({ card_id, card_program_id }, link) =>
          card_id === null && card_program_id === null ? 'All' : link.to(card_id ?? card_program_id),
      },
      { title: 'Version', isAmount: true, show: ({ version }) => String(version) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status' },
    empty: 'No drafts yet. Create a draft to try other spending controls.',
    above: ({ environment }) =>
      html`<p><a href="/${environment}/spending-control-backtests">View all backtests</a></p>`,
  },
  create: {
    operation: 'createSpendingControlDraft',
    title: 'Create control draft',
    button: 'Create draft',
    fields: [
      { name: 'name', label: 'Name' },
      {
        name: 'card_id',
        label: 'Card',
        pick: CARD,
        optional: true,
        hint: 'Leave it empty for several cards.',
      },
      {
        name: 'card_program_id',
        label: 'Card program',
        pick: CARD_PROGRAM,
        optional: true,
        hint: 'Leave both empty for all cards.',
      },
      ...CONTROL_FIELDS,
    ],
    body: (values) => ({
      name: values.name,
      ...(values.card_id && { card_id: values.card_id }),
      ...(values.card_program_id && { card_program_id: values.card_program_id }),
      spending_controls: readControls(values),
    }),
  },
  detail: {
    operation: 'getSpendingControlDraft',
    parameter: 'spending_control_draft_id',
    name: ({ name }) => name,
    status: ({ status }) => status,
    facts: (draft, link) => [
      ['Card', link.to(draft.card_id)],
      ['Card program', link.to(draft.card_program_id)],
      ['Version', String(draft.version)],
      ...(draft.promotion
        ? ([
            ['Promoted', when(draft.promotion.promoted)],
            ['Promoted version', String(draft.promotion.version)],
            ['Cards changed', draft.promotion.cards.toLocaleString('en')],
            ['Rolled back', draft.promotion.rolled_back === null ? '–' : when(draft.promotion.rolled_back)],
          ] as const)
        : []),
      ...controlFacts(draft.spending_controls),
      ['Created', when(draft.created)],
      ['Updated', when(draft.updated)],
      ['ID', code(draft.id)],
    ],
    actions: [
      {
        name: 'change',
        operation: 'updateSpendingControlDraft',
        button: 'Edit draft',
        fields: [{ name: 'name', label: 'Name' }, ...CONTROL_FIELDS],
        values: ({ name, spending_controls }) => ({ name, ...controlValues(spending_controls) }),
        body: (values) => ({ name: values.name, spending_controls: readControls(values) }),
        when: isOpen,
      },
      {
        name: 'backtest',
        operation: 'createSpendingControlBacktest',
        button: 'Start backtest',
        warning: 'Replays your recorded authorizations with this draft. Nothing else changes.',
        fields: [
          { name: 'interval_start', label: 'First day (UTC)', kind: 'date' },
          {
            name: 'interval_end',
            label: 'End (UTC)',
            kind: 'date',
            hint: 'The backtest ends when this day begins.',
          },
        ],
        body: ({ interval_start = '', interval_end = '' }) => ({
          interval_start: readDay(interval_start),
          interval_end: readDay(interval_end),
        }),
      },
      {
        name: 'shadow',
        operation: 'startSpendingControlShadow',
        button: 'Start shadow',
        done: 'Shadow started',
        warning:
          'From now on, each authorization is also judged by this draft. The result is recorded and changes no decision.',
        when: isOpen,
      },
      {
        name: 'end-shadow',
        operation: 'endSpendingControlShadow',
        button: 'End shadow',
        done: 'Shadow ended',
        when: ({ status }) => status === 'shadow',
      },
      {
        name: 'promote',
        operation: 'promoteSpendingControlDraft',
        button: 'Promote draft',
        done: 'Draft promoted',
        warning:
          'The spending controls of all cards of this draft are replaced at once. You can roll the draft back later.',
        fields: [
          {
            name: 'version',
            label: 'Version',
            kind: 'number',
            hint: 'The version that you have reviewed. Nothing changes if the draft has a newer one.',
          },
        ],
        values: ({ version }) => ({ version: String(version) }),
        when: ({ status }) => status === 'draft' || status === 'shadow',
      },
      {
        name: 'roll-back',
        operation: 'rollBackSpendingControlDraft',
        button: 'Roll back',
        done: 'Draft rolled back',
        warning:
          'Each card gets back the spending controls that it had before the promotion. A card whose controls have changed since keeps them.',
        isDanger: true,
        when: ({ status }) => status === 'active',
      },
      {
        name: 'archive',
        operation: 'archiveSpendingControlDraft',
        button: 'Archive draft',
        warning: 'An archived draft cannot be used again.',
        isDanger: true,
        when: (draft) => isOpen(draft) || draft.status === 'superseded',
      },
    ],
    sections: [
      {
        title: 'Spending limits',
        write: ({ spending_controls }, _visit, link) =>
          writeLimits(spending_controls, link, 'No spending limits.'),
      },
      {
        title: 'Shadow',
        when: ({ shadow_version = null }) => shadow_version !== null,
        write: ({ id }, visit, link) => writeShadow(id, visit, link),
      },
      { title: 'Backtests', write: ({ id }, visit, link) => writeBacktests(id, visit, link) },
    ],
  },
})
