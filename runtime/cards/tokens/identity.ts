/** What the schemas of people, companies and their addresses cannot say. */
import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { isCountry, US_STATES } from '../../platform/countries.ts'

export type PostalAddress = components['schemas']['Address']

/** Direction overrides and isolates as well: a text that reads otherwise than it is stored. */
const UNSEEN = /[\p{Cc}\u{202A}-\u{202E}\u{2066}-\u{2069}]/u

/** Nobody alive is older. */
const EARLIEST_BIRTH = '1900-01-01'

/** @returns what is wrong with a name or a line of an address. */
export function checkText(field: string, text: string): Detail[] {
  if (UNSEEN.test(text)) return [{ field, issue: 'must not hold control characters' }]
  return /[\p{L}\p{N}]/u.test(text) ? [] : [{ field, issue: 'must hold a letter or a digit' }]
}

/** @param date `1990-04-12`. @param now service time, milliseconds since the epoch. */
export function checkBirth(field: string, date: string, now: number): Detail[] {
  if (date > new Date(now).toISOString().slice(0, 10)) return [{ field, issue: 'must not lie in the future' }]
  return date < EARLIEST_BIRTH ? [{ field, issue: `must not lie before ${EARLIEST_BIRTH}` }] : []
}

export function checkCountry(field: string, code: string): Detail[] {
  return isCountry(code) ? [] : [{ field, issue: 'is no country of ISO 3166-1' }]
}

/** @returns what is wrong with an address, by its members. */
export function checkAddress(field: string, address: PostalAddress): Detail[] {
  const { line1, line2, city, state, postal_code, country } = address
  const faults = Object.entries({ line1, city, postal_code }).flatMap(([name, text]) =>
    checkText(`${field}.${name}`, text),
  )
  for (const [name, text] of Object.entries({ line2, state })) {
    if (text !== null && UNSEEN.test(text)) {
      faults.push({ field: `${field}.${name}`, issue: 'must not hold control characters' })
    }
  }
  if (country === 'US' && !US_STATES.has(state ?? '')) {
    faults.push({ field: `${field}.state`, issue: 'must be the two letters of a state of the United States' })
  }
  return [...faults, ...checkCountry(`${field}.country`, country)]
}

/** An address as it is kept: what was not given is null. */
export function readAddress(given: components['schemas']['AddressInput']): PostalAddress {
  const { line1, line2 = null, city, state = null, postal_code, country } = given
  return { line1, line2, city, state, postal_code, country }
}
