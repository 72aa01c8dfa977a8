/** Rules for people, companies and addresses that the schemas cannot express. */
import type { Detail } from 'dateline/runtime'
import type { components } from '../../../generated/canonical/types.ts'
import { isCountry, US_STATES } from '../../platform/countries.ts'

export type PostalAddress = components['schemas']['Address']

/**
 * Control characters, including bidirectional overrides and isolates, which make a text read differently from how it is
 * stored.
 */
const UNSEEN = /[\p{Cc}\u{202A}-\u{202E}\u{2066}-\u{2069}]/u

/** Earliest accepted date of birth. */
const EARLIEST_BIRTH = '1900-01-01'

/** Checks a name or an address line. Returns the problems found. */
export function checkText(field: string, text: string): Detail[] {
  if (UNSEEN.test(text)) return [{ field, issue: 'must not contain control characters' }]
  return /[\p{L}\p{N}]/u.test(text) ? [] : [{ field, issue: 'must contain a letter or a digit' }]
}

/**
 * Checks a date of birth. Returns the problems found.
 * @param date for example `1990-04-12`.
 * @param now service time, in milliseconds since the epoch.
 */
export function checkBirth(field: string, date: string, now: number): Detail[] {
  if (date > new Date(now).toISOString().slice(0, 10)) return [{ field, issue: 'must not be in the future' }]
  return date < EARLIEST_BIRTH ? [{ field, issue: `must not be before ${EARLIEST_BIRTH}` }] : []
}

export function checkCountry(field: string, code: string): Detail[] {
  return isCountry(code) ? [] : [{ field, issue: 'is not an ISO 3166-1 country code' }]
}

/** Checks an address. Returns the problems of each field. */
export function checkAddress(field: string, address: PostalAddress): Detail[] {
  const { line1, line2, city, state, postal_code, country } = address
  const faults = Object.entries({ line1, city, postal_code }).flatMap(([name, text]) =>
    checkText(`${field}.${name}`, text),
  )
  for (const [name, text] of Object.entries({ line2, state })) {
    if (text !== null && UNSEEN.test(text)) {
      faults.push({ field: `${field}.${name}`, issue: 'must not contain control characters' })
    }
  }
  if (country === 'US' && !US_STATES.has(state ?? '')) {
    faults.push({ field: `${field}.state`, issue: 'must be a two-letter US state code' })
  }
  return [...faults, ...checkCountry(`${field}.country`, country)]
}

/** Converts an address to its stored form, with null for absent fields. */
export function readAddress(given: components['schemas']['AddressInput']): PostalAddress {
  const { line1, line2 = null, city, state = null, postal_code, country } = given
  return { line1, line2, city, state, postal_code, country }
}
