import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { type FirstOperation, type FormValues, resource } from '../../engine/shapes.ts'
import { code, orDash, state, when, words } from '../../engine/values.ts'
import { COUNTRY_OPTIONS } from '../pickers/lists.ts'

type PayoutDestination = components['schemas']['PayoutDestination']

const TYPE = { name: 'type', label: 'Type', kind: 'choice' } as const
const USDC_OPTION = ['usdc_address', 'USDC address'] as const
const USDC = { group: 'USDC address', when: [{ name: 'type', is: 'usdc_address' }] } as const
const BANK = {
  group: 'Bank account',
  environment: 'live',
  when: [{ name: 'type', is: 'bank_account' }],
} as const

/** The account number is sent only to the first operation, which returns a token for the account. */
const TOKEN: FirstOperation = {
  operation: 'createToken',
  when: ({ type }) => type === 'bank_account',
  body: ({
    holder_name,
    'bank_account.account_number': account_number,
    'bank_account.routing_number': routing_number,
    'bank_account.country': country,
  }) => ({
    type: 'bank_account',
    bank_account: { holder_name, account_number, routing_number, country },
  }),
  give: (answer) => ({ token_id: (answer as components['schemas']['Token']).id }),
  placeholder: { token_id: 'tok_…' },
}

function readDestination({ type, address, token_id, holder_name, default: isDefault }: FormValues): object {
  return {
    type,
    ...(type === 'bank_account' ? { token_id } : { address }),
    holder_name,
    default: isDefault === 'true',
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
      {
        ...TYPE,
        environment: 'sandbox',
        options: [USDC_OPTION],
        hint: 'Bank accounts are available only in live.',
      },
      { ...TYPE, environment: 'live', options: [USDC_OPTION, ['bank_account', 'Bank account']] },
      {
        name: 'holder_name',
        of: ['holder_name', 'bank_account.holder_name'],
        label: 'Account holder',
      },
      {
        ...USDC,
        name: 'address',
        label: 'Address',
        hint: 'With its chain, for example, eip155:8453:0x5290….',
      },
      {
        ...BANK,
        name: 'bank_account.country',
        label: 'Country',
        kind: 'choice',
        options: COUNTRY_OPTIONS,
        value: 'US',
      },
      { ...BANK, name: 'bank_account.routing_number', label: 'Routing number', hint: 'Nine digits.' },
      {
        ...BANK,
        name: 'bank_account.account_number',
        label: 'Account number',
        kind: 'secret',
        hint: 'Letters and digits. The number is stored encrypted and is not shown again.',
      },
      { name: 'default', label: 'Use as the default destination for settlements', kind: 'truth' },
    ],
    first: TOKEN,
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
    ways: [
      {
        operation: 'createPayout',
        text: 'Create payout',
        to: ({ id }) => `payouts/new?destination_id=${id}`,
        when: ({ status }) => status === 'active',
      },
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
        write: ({ id }, _visit, link) =>
          html`<p>${link(`payouts?destination_id=${id}`, 'View payouts to this destination')}</p>`,
      },
    ],
  },
})
