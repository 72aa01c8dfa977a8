import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { type FormValues, resource } from '../../engine/shapes.ts'
import { code, orDash, state, when, words } from '../../engine/values.ts'

type PayoutDestination = components['schemas']['PayoutDestination']

/** A bank account is identified by a token, and a USDC destination by an address. */
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
  intro: 'USDC addresses and bank accounts that receive your payouts.',
  list: {
    operation: 'listPayoutDestinations',
    columns: [
      { title: 'Account holder', show: ({ holder_name }) => holder_name },
      { title: 'Type', show: ({ type }) => words(type) },
      { title: 'Destination', show: (destination) => code(whereOf(destination)) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Default', show: ({ default: isDefault }) => (isDefault ? 'Yes' : 'No') },
    ],
    filters: { status: 'Status', type: 'Type' },
    empty: 'No payout destinations yet. Add a destination to receive payouts.',
  },
  create: {
    operation: 'createPayoutDestination',
    title: 'Add payout destination',
    button: 'Add payout destination',
    fields: [
      { name: 'holder_name', label: 'Account holder' },
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
        label: 'Address or bank account token',
        hint: 'For USDC, the address with its chain, for example, eip155:8453:0x5290…. For a bank account, the token that your application created.',
      },
      {
        name: 'default',
        label: 'Use as the default destination for settlements',
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
      ['ID', code(destination.id)],
      ['Type', words(destination.type)],
      ['Destination', code(whereOf(destination))],
      ['Status', state(destination.status)],
      ['Default', destination.default ? 'Yes' : 'No'],
      ['Usable from', when(destination.active_at)],
      ['Created', when(destination.created)],
      ['Updated', when(destination.updated)],
    ],
    actions: [
      {
        name: 'make-default',
        operation: 'updatePayoutDestination',
        button: 'Set as default',
        done: 'Set as default',
        when: ({ status, default: isDefault }) => status === 'active' && !isDefault,
        body: () => ({ default: true }),
      },
      {
        name: 'disable',
        operation: 'disablePayoutDestination',
        button: 'Disable destination',
        warning: 'The destination no longer receives payouts. You cannot undo this.',
        isDanger: true,
        when: ({ status }) => !['disabled', 'denied'].includes(status),
      },
    ],
    sections: [
      {
        title: 'Payouts',
        write: ({ id, status }, _visit, link) =>
          html`<ul class="plain"><li>${link(`payouts?destination_id=${id}`, 'View payouts to this destination')}</li>${
            status === 'active' &&
            html`<li>${link(`payouts/new?destination_id=${id}`, 'Create payout to this destination')}</li>`
          }</ul>`,
      },
    ],
  },
})
