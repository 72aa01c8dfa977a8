/** Rules for cardholders that the schema cannot express. */
import { forbidden, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { checkMetadata } from '../../api/json/merge-patch.ts'
import { checkAddress, checkBirth, checkText } from '../tokens/identity.ts'
import type { CardholderRow } from './queries.ts'

/**
 * Validates a cardholder. Throws `validation_failed` with every problem found.
 * @param now service time.
 */
export function requireGood(row: CardholderRow, now: number): void {
  const { type, name, date_of_birth, billing_address, metadata } = row
  const field = 'date_of_birth'
  const faults = [...checkText('name', name), ...checkMetadata(metadata)]
  if (billing_address) faults.push(...checkAddress('billing_address', billing_address))
  if (date_of_birth !== null) {
    if (type === 'company') faults.push({ field, issue: 'is for individuals only' })
    else faults.push(...checkBirth(field, date_of_birth, now))
  }
  if (faults.length > 0) throw validationFailed(faults)
}

/** Throws `state_not_supported` in the live environment if the address is in a US state without a license. */
export function requireServed(
  { caller, licensedStates }: Pick<Context, 'caller' | 'licensedStates'>,
  { billing_address }: Pick<CardholderRow, 'billing_address'>,
): void {
  if (caller.environment !== 'live' || billing_address?.country !== 'US') return
  const { state } = billing_address
  if (state === null || licensedStates.has(state)) return
  throw forbidden('state_not_supported', `Cardholders with a billing address in ${state} are not supported.`)
}
