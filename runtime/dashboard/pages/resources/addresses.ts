/** Fields of postal addresses. */
import type { components } from '../../../../generated/canonical/types.ts'
import type { FormField, FormValues } from '../../engine/shapes.ts'
import { COUNTRY_OPTIONS, US_STATE_OPTIONS } from '../pickers/lists.ts'

type Address = components['schemas']['Address']

/**
 * Returns the fields of an address. States of the United States are a select; other countries have a text field.
 *
 * @param name the member of the body that contains the address.
 * @param common properties of all fields, such as their group.
 */
export function addressFields(
  name: string,
  common: Pick<FormField, 'group' | 'when' | 'optional'>,
): readonly FormField[] {
  const country = `${name}.country`
  const { when = [] } = common
  const state = { ...common, of: [`${name}.state`] }
  return [
    {
      ...common,
      name: country,
      label: 'Country',
      kind: 'choice',
      options: common.optional ? [['', '–'], ...COUNTRY_OPTIONS] : COUNTRY_OPTIONS,
      ...(!common.optional && { value: 'US' }),
    },
    { ...common, name: `${name}.line1`, label: 'Address line 1' },
    { ...common, name: `${name}.line2`, label: 'Address line 2', optional: true },
    { ...common, name: `${name}.city`, label: 'City' },
    {
      ...state,
      name: `${name}.us_state`,
      label: 'State (United States)',
      kind: 'choice',
      options: [['', '–'], ...US_STATE_OPTIONS],
      when: [...when, { name: country, is: 'US' }],
    },
    {
      ...state,
      name: `${name}.state`,
      label: 'State or province',
      optional: true,
      when: [...when, { name: country, isNot: 'US' }],
    },
    { ...common, name: `${name}.postal_code`, label: 'Postal code' },
  ]
}

/** Returns the values of the fields. */
export function addressValues(name: string, address: Address | null): FormValues {
  const given = { ...address, us_state: address?.state }
  return Object.fromEntries(Object.entries(given).map(([key, value]) => [`${name}.${key}`, value ?? '']))
}
