import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { type FormValues, resource } from '../../engine/shapes.ts'
import { code, orDash, state, when, words } from '../../engine/values.ts'

type PayoutDestination = components['schemas']['PayoutDestination']

/** Each type has another way of saying where. */
function readDestination({ type, where, holder_name, default: isDefault }: FormValues): object {
  return {
    type,
    [type === 'bank_account' ? 'token_id' : 'address']: where,
    holder_name,
    default: isDefault === 'yes',
  }
}

function whereOf({ address, bank_account: account }: PayoutDestination): string {
  return account === null ? orDash(address) : `•••• ${account.last4}, ${account.country}`
}

export const PAYOUT_DESTINATIONS = resource<PayoutDestination>({
  path: 'payout-destinations',
  title: 'Payout destinations',
  intro: 'Addresses and accounts of yours that money is paid out to.',
  list: {
    operation: 'listPayoutDestinations',
    columns: [
      { title: 'Whose', show: ({ holder_name }) => holder_name },
      { title: 'Type', show: ({ type }) => words(type) },
      { title: 'Where', show: (destination) => code(whereOf(destination)) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Default', show: ({ default: isDefault }) => (isDefault ? 'Yes' : 'No') },
    ],
    filters: { status: 'State', type: 'Type' },
    empty: 'No destination yet. Add one: a payout has to go somewhere.',
  },
  create: {
    operation: 'createPayoutDestination',
    title: 'Add a destination',
    button: 'Add',
    fields: [
      { name: 'holder_name', label: 'Whose it is' },
      {
        name: 'type',
        label: 'Type',
        kind: 'choice',
        options: [
          ['usdc_address', 'USDC address'],
          ['bank_account', 'Bank account'],
        ],
      },
      {
        name: 'where',
        of: ['address', 'token_id'],
        label: 'Where',
        hint: 'A USDC address with its chain, such as eip155:8453:0x5290…; of a bank account the token that your application has made of it.',
      },
      {
        name: 'default',
        label: 'Settlements are paid to it from now on',
        kind: 'choice',
        options: [
          ['no', 'No'],
          ['yes', 'Yes'],
        ],
      },
    ],
    body: readDestination,
  },
  detail: {
    operation: 'getPayoutDestination',
    parameter: 'payout_destination_id',
    name: ({ holder_name }) => holder_name,
    facts: (destination) => [
      ['Identifier', code(destination.id)],
      ['Type', words(destination.type)],
      ['Where', code(whereOf(destination))],
      ['State', state(destination.status)],
      ['Default', destination.default ? 'Yes' : 'No'],
      ['Usable from', when(destination.active_at)],
      ['Created', when(destination.created)],
      ['Changed', when(destination.updated)],
    ],
    actions: [
      {
        name: 'make-default',
        operation: 'updatePayoutDestination',
        button: 'Make it the default',
        when: ({ status, default: isDefault }) => status === 'active' && !isDefault,
        body: () => ({ default: true }),
      },
      {
        name: 'disable',
        operation: 'disablePayoutDestination',
        button: 'Disable',
        warning: 'Nothing is paid to it any more. This cannot be undone.',
        isDanger: true,
        when: ({ status }) => !['disabled', 'denied'].includes(status),
      },
    ],
    sections: [
      {
        title: 'Payouts',
        write: ({ id, status }, _visit, link) =>
          html`<ul class="plain"><li>${link(`payouts?destination_id=${id}`, 'Payouts to this destination')}</li>${
            status === 'active' && html`<li>${link(`payouts/new?destination_id=${id}`, 'Pay out to it')}</li>`
          }</ul>`,
      },
    ],
  },
})
