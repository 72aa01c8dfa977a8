import type { components } from '../../../../generated/canonical/types.ts'
import { html } from '../../../platform/html.ts'
import { bodyOf } from '../../engine/bodies.ts'
import { type FormField, type FormValues, resource } from '../../engine/shapes.ts'
import { code, orDash, state, when, words, writeAddress } from '../../engine/values.ts'

type Cardholder = components['schemas']['Cardholder']
type Alert = components['schemas']['SanctionsAlert']

const PERSON: readonly FormField[] = [
  { name: 'name', label: 'Name', hint: 'In full, as it stands on papers.' },
  { name: 'email', label: 'E-mail', optional: true },
  {
    name: 'phone_number',
    label: 'Telephone',
    optional: true,
    hint: 'With the country, such as +14155550100.',
  },
  { name: 'date_of_birth', label: 'Date of birth', optional: true, hint: 'Such as 1990-05-31; people only.' },
]

const ADDRESS: readonly FormField[] = [
  { name: 'billing_address.line1', label: 'Street and number', optional: true },
  { name: 'billing_address.line2', label: 'Flat, suite or floor', optional: true },
  { name: 'billing_address.city', label: 'Town', optional: true },
  { name: 'billing_address.state', label: 'State or province', optional: true },
  { name: 'billing_address.postal_code', label: 'Postal code', optional: true },
  { name: 'billing_address.country', label: 'Country', optional: true, hint: 'Two letters, such as US.' },
]

const FIELDS = [...PERSON, ...ADDRESS]

/** As a merge patch: what was left empty is taken away where it may be. */
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
    ...Object.fromEntries(
      Object.entries(billing_address ?? {}).map(([key, value]) => [`billing_address.${key}`, value]),
    ),
  }
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [key, value ?? '']))
}

export const CARDHOLDERS = resource<Cardholder>({
  path: 'cardholders',
  title: 'Cardholders',
  intro: 'People and companies that cards are issued to, each looked for on the lists of sanctions.',
  list: {
    operation: 'listCardholders',
    columns: [
      { title: 'Name', show: ({ name }) => name },
      { title: 'Type', show: ({ type }) => words(type) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Sanctions', show: ({ sanctions }) => state(sanctions.status) },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { status: 'State', type: 'Type' },
    empty: 'No cardholder yet. Add the first one: every card is issued to somebody.',
  },
  create: {
    operation: 'createCardholder',
    title: 'Add a cardholder',
    button: 'Add',
    fields: [
      {
        name: 'type',
        label: 'Type',
        kind: 'choice',
        options: [
          ['individual', 'A person'],
          ['company', 'A company'],
        ],
      },
      ...FIELDS,
    ],
  },
  detail: {
    operation: 'getCardholder',
    parameter: 'cardholder_id',
    name: ({ name }) => name,
    facts: (holder) => [
      ['Identifier', code(holder.id)],
      ['Type', words(holder.type)],
      ['State', state(holder.status)],
      [
        'Stopped because',
        orDash(holder.requirements.disabled_reason && words(holder.requirements.disabled_reason)),
      ],
      ['Still needed', orDash(holder.requirements.past_due.map(words).join(', '))],
      ['E-mail', orDash(holder.email)],
      ['Telephone', orDash(holder.phone_number)],
      ['Date of birth', orDash(holder.date_of_birth)],
      ['Address', holder.billing_address === null ? '–' : writeAddress(holder.billing_address)],
      ['Sanctions', state(holder.sanctions.status)],
      ['Last looked for', when(holder.sanctions.last_screened_at)],
      ['List of', orDash(holder.sanctions.list_version)],
      ['Created', when(holder.created)],
      ['Changed', when(holder.updated)],
    ],
    actions: [
      {
        name: 'change',
        operation: 'updateCardholder',
        button: 'Change',
        fields: FIELDS,
        values: currentValues,
        body: readChanges,
      },
      {
        name: 'deactivate',
        operation: 'updateCardholder',
        button: 'Switch off',
        warning: 'Every card of this cardholder declines until it is switched on again.',
        isDanger: true,
        when: ({ status }) => status === 'active',
        body: () => ({ status: 'inactive' }),
      },
      {
        name: 'activate',
        operation: 'updateCardholder',
        button: 'Switch on',
        when: ({ status }) => status === 'inactive',
        body: () => ({ status: 'active' }),
      },
      { name: 'screen', operation: 'screenCardholder', button: 'Look for again' },
    ],
    sections: [
      {
        title: 'What belongs to it',
        write: ({ id }, _visit, link) =>
          html`<ul class="plain"><li>${link(`cards?cardholder_id=${id}`, 'Cards of this cardholder')}</li><li>${link(`sanctions-alerts?cardholder_id=${id}`, 'Sanctions alerts of this cardholder')}</li></ul>`,
      },
    ],
  },
})

export const SANCTIONS_ALERTS = resource<Alert>({
  path: 'sanctions-alerts',
  title: 'Sanctions alerts',
  intro: 'Cardholders that are perhaps on a list of sanctions, for you to judge.',
  list: {
    operation: 'listSanctionsAlerts',
    columns: [
      { title: 'Alert', show: ({ id }) => code(id) },
      {
        title: 'Of',
        show: ({ cardholder_id }, link) => link.to(cardholder_id),
      },
      { title: 'Alike', show: ({ score }) => percent(score) },
      { title: 'State', show: ({ status }) => state(status) },
      { title: 'Found', show: ({ created }) => when(created) },
    ],
    filters: { status: 'State', cardholder_id: 'Cardholder' },
    empty: 'No alert. Every cardholder is looked for when it is added and whenever a list changes.',
  },
  detail: {
    operation: 'getSanctionsAlert',
    parameter: 'sanctions_alert_id',
    name: ({ id }) => id,
    facts: (alert, link) => [
      ['Cardholder', link.to(alert.cardholder_id)],
      ['State', state(alert.status)],
      ['Because of', words(alert.kind)],
      ['List', alert.list],
      ['Alike', percent(alert.score)],
      ['What matches', orDash(alert.matched_fields.map(words).join(', '))],
      ['Your reasons', orDash(alert.note)],
      ['Resolved', when(alert.resolved_at)],
      ['Found', when(alert.created)],
    ],
    actions: [
      {
        name: 'resolve',
        operation: 'resolveSanctionsAlert',
        button: 'Judge',
        warning: 'Who is confirmed to be on the list is blocked, and every card with it.',
        fields: [
          {
            name: 'resolution',
            label: 'Judgement',
            kind: 'choice',
            options: [
              ['false_positive', 'It is somebody else'],
              ['confirmed', 'It is the same'],
            ],
          },
          { name: 'note', label: 'Reasons', kind: 'lines', hint: 'Kept with the alert.' },
        ],
        when: ({ status }) => status === 'open',
      },
    ],
  },
})

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}
