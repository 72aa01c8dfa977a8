import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { bodyOf } from '../../engine/bodies.ts'
import { writeRelated } from '../../engine/detail-page.ts'
import { type FormField, type FormValues, resource } from '../../engine/shapes.ts'
import { code, orDash, state, when, words, writeAddress } from '../../engine/values.ts'
import { notice } from '../../html/components.ts'
import { CARDHOLDER } from '../pickers/pickable.ts'
import { addressFields, addressValues } from './addresses.ts'
import { CARD_TRANSACTIONS } from './card-transactions.ts'
import { CARDS } from './cards.ts'

type Cardholder = components['schemas']['Cardholder']
type Alert = components['schemas']['SanctionsAlert']

const PERSON: readonly FormField[] = [
  { name: 'name', label: 'Name', hint: 'The full legal name.' },
  { name: 'email', label: 'Email', kind: 'email', optional: true },
  {
    name: 'phone_number',
    label: 'Phone',
    optional: true,
    hint: 'With the country code, for example, +14155550100.',
  },
]

const BIRTH: FormField = { name: 'date_of_birth', label: 'Date of birth', kind: 'date', optional: true }

const ADDRESS = addressFields('billing_address', { group: 'Billing address', optional: true })

const FIELDS = [...PERSON, BIRTH, ...ADDRESS]

/** Returns a merge patch. An optional field that was left empty becomes null, which removes its value. */
function readChanges(values: FormValues): object {
  const removed = ['email', 'phone_number', 'date_of_birth'].filter((name) => values[name] === '')
  return { ...(bodyOf(FIELDS, values) as object), ...Object.fromEntries(removed.map((name) => [name, null])) }
}

function currentValues({
  name,
  email,
  phone_number,
  date_of_birth,
  billing_address,
}: Cardholder): FormValues {
  const given = {
    name,
    email,
    phone_number,
    date_of_birth,
    ...addressValues('billing_address', billing_address),
  }
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, value ?? '']))
}

export const CARDHOLDERS = resource<Cardholder>({
  path: 'cardholders',
  title: 'Cardholders',
  intro:
    'People and companies that you issue cards to. Every cardholder is screened against sanctions lists.',
  list: {
    operation: 'listCardholders',
    columns: [
      { title: 'Name', show: ({ name }) => name },
      { title: 'Email', show: ({ email }) => orDash(email) },
      { title: 'Type', show: ({ type }) => words(type) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Sanctions status', show: ({ sanctions }) => state(sanctions.status) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status', type: 'Type' },
    empty: 'No cardholders yet. Add a cardholder before you issue the first card.',
  },
  create: {
    operation: 'createCardholder',
    title: 'Add cardholder',
    button: 'Add cardholder',
    fields: [
      {
        name: 'type',
        label: 'Type',
        kind: 'choice',
        options: [
          ['individual', 'Individual'],
          ['company', 'Company'],
        ],
      },
      ...PERSON,
      { ...BIRTH, when: [{ name: 'type', is: 'individual' }] },
      ...ADDRESS,
    ],
  },
  detail: {
    operation: 'getCardholder',
    parameter: 'cardholder_id',
    name: ({ name }) => name,
    status: ({ status }) => status,
    picture: ({ requirements: { disabled_reason, past_due } }) =>
      disabled_reason === null && past_due.length === 0
        ? html``
        : notice(
            'warn',
            `${disabled_reason === null ? '' : `${words(disabled_reason)}. `}${
              past_due.length === 0 ? '' : `Missing information: ${past_due.map(words).join(', ')}.`
            }`.trim(),
          ),
    facts: (holder) => [
      ['Type', words(holder.type)],
      ['Email', orDash(holder.email)],
      ['Phone', orDash(holder.phone_number)],
      ['Date of birth', orDash(holder.date_of_birth)],
      ['Billing address', holder.billing_address === null ? '–' : writeAddress(holder.billing_address)],
      ['Sanctions status', state(holder.sanctions.status)],
      ['Last screened', when(holder.sanctions.last_screened_at)],
      ['List version', orDash(holder.sanctions.list_version)],
      ['Created', when(holder.created)],
      ['Updated', when(holder.updated)],
      ['ID', code(holder.id)],
    ],
    ways: [
      {
        operation: 'createCard',
        text: 'Issue card',
        to: ({ id }) => `cards/new?cardholder_id=${id}`,
        when: ({ status }) => status === 'active',
      },
    ],
    actions: [
      {
        name: 'change',
        operation: 'updateCardholder',
        button: 'Edit cardholder',
        fields: FIELDS,
        values: currentValues,
        body: readChanges,
      },
      {
        name: 'deactivate',
        operation: 'updateCardholder',
        button: 'Deactivate cardholder',
        warning: 'All cards of this cardholder decline payments until you activate the cardholder again.',
        isDanger: true,
        when: ({ status }) => status === 'active',
        body: () => ({ status: 'inactive' }),
      },
      {
        name: 'activate',
        operation: 'updateCardholder',
        button: 'Activate cardholder',
        when: ({ status }) => status === 'inactive',
        body: () => ({ status: 'active' }),
      },
      { name: 'screen', operation: 'screenCardholder', button: 'Screen cardholder' },
    ],
    sections: [
      {
        title: 'Cards',
        write: ({ id }, visit) =>
          writeRelated(visit, CARDS, {
            query: { cardholder_id: id, limit: '10' },
            empty: 'No cards yet.',
            all: 'View all cards of this cardholder',
            without: ['Cardholder'],
          }),
      },
      {
        title: 'Last transactions',
        write: ({ id }, visit) =>
          writeRelated(visit, CARD_TRANSACTIONS, {
            query: { cardholder_id: id, limit: '10' },
            empty: 'No transactions yet.',
            all: 'View all transactions',
          }),
      },
      {
        title: 'Sanctions alerts',
        write: ({ id }, visit) =>
          writeRelated(visit, SANCTIONS_ALERTS, {
            query: { cardholder_id: id, limit: '10' },
            empty: 'No sanctions alerts.',
            all: 'View all sanctions alerts of this cardholder',
          }),
      },
    ],
  },
})

export const SANCTIONS_ALERTS = resource<Alert>({
  path: 'sanctions-alerts',
  title: 'Sanctions alerts',
  intro: 'Possible matches between cardholders and sanctions lists, for you to review.',
  list: {
    operation: 'listSanctionsAlerts',
    columns: [
      { title: 'Cardholder', show: ({ cardholder_id }, link) => link.nameOf(cardholder_id) },
      { title: 'List', show: ({ list }) => list },
      { title: 'Match score', isAmount: true, show: ({ score }) => percent(score) },
      { title: 'Status', show: ({ status }) => state(status) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'Status', cardholder_id: { label: 'Cardholder', pick: CARDHOLDER } },
    empty: 'No sanctions alerts. Every cardholder is screened when you add it and each time a list changes.',
  },
  detail: {
    operation: 'getSanctionsAlert',
    parameter: 'sanctions_alert_id',
    name: ({ list, score }) => `Possible match with ${list}: ${percent(score)}`,
    status: ({ status }) => status,
    facts: (alert, link) => [
      ['Cardholder', link.to(alert.cardholder_id)],
      ['Kind', words(alert.kind)],
      ['List', alert.list],
      ['Match score', percent(alert.score)],
      ['Matched fields', orDash(alert.matched_fields.map(words).join(', '))],
      ['Note', orDash(alert.note)],
      ['Resolved', when(alert.resolved_at)],
      ['Created', when(alert.created)],
      ['ID', code(alert.id)],
    ],
    actions: [
      {
        name: 'resolve',
        operation: 'resolveSanctionsAlert',
        button: 'Resolve alert',
        warning: 'If you confirm the match, the cardholder is blocked and all of its cards decline payments.',
        fields: [
          {
            name: 'resolution',
            label: 'Resolution',
            kind: 'choice',
            options: [
              ['false_positive', 'False positive: not the person on the list'],
              ['confirmed', 'Confirmed: block the cardholder'],
            ],
          },
          {
            name: 'note',
            label: 'Note',
            kind: 'lines',
            hint: 'The reason for your decision. It is stored with the alert.',
          },
        ],
        when: ({ status }) => status === 'open',
      },
    ],
  },
})

function percent(share: number): string {
  return `${(share * 100).toFixed(0)}%`
}
