import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { CardholderRow } from './queries.ts'

type Schemas = components['schemas']

export function showCardholder(row: CardholderRow): Schemas['Cardholder'] {
  const { last_screened_at } = row
  return {
    id: row.id,
    object: 'cardholder',
    type: row.type,
    name: row.name,
    email: row.email,
    phone_number: row.phone_number,
    date_of_birth: row.date_of_birth,
    billing_address: row.billing_address,
    status: row.status,
    requirements: requirementsOf(row),
    sanctions: {
      status: row.sanctions_status,
      last_screened_at: last_screened_at === null ? null : writeInstant(last_screened_at),
      list_version: row.list_version,
    },
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}

/**
 * Lists the date of birth as a requirement while an alert on a person is open: it helps to tell two people with the same
 * name apart.
 */
function requirementsOf(row: CardholderRow): Schemas['CardholderRequirements'] {
  if (row.status === 'blocked') return { disabled_reason: 'sanctions_match_confirmed', past_due: [] }
  if (row.sanctions_status === 'potential_match') {
    const isUndated = row.type === 'individual' && row.date_of_birth === null
    return { disabled_reason: 'sanctions_alert_open', past_due: isUndated ? ['date_of_birth'] : [] }
  }
  return { disabled_reason: row.status === 'inactive' ? 'switched_off' : null, past_due: [] }
}
