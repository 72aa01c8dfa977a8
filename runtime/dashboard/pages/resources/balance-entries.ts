import type { components } from '../../../../generated/canonical/types.ts'
import { resource } from '../../engine/shapes.ts'
import { money, when, words } from '../../engine/values.ts'

export const BALANCE_ENTRIES = resource<components['schemas']['BalanceEntry']>({
  path: 'balance-entries',
  title: 'Balance entries',
  intro: 'Every movement of your balance, with its cause and the balance after it.',
  list: {
    operation: 'listBalanceEntries',
    columns: [
      { title: 'Number', isAmount: true, show: ({ sequence }) => String(sequence) },
      { title: 'Kind', show: ({ kind }) => words(kind) },
      { title: 'Cause', show: ({ source_id }, link) => link.to(source_id) },
      { title: 'Amount', isAmount: true, show: ({ amount, currency }) => money(amount, currency) },
      { title: 'Balance', isAmount: true, show: ({ balance, currency }) => money(balance, currency) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { account: 'Account', kind: 'Kind', source_id: 'Cause' },
    empty: 'No entries yet. An entry appears when money moves, for example when a transaction clears.',
  },
})
