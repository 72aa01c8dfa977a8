import type { components } from '../../../generated/canonical/types.ts'
import { writeInstant } from '../../platform/instants.ts'
import type { CardTransactionRow } from './queries.ts'

type Schemas = components['schemas']

/** What the interface says for each reason to decline. */
export const DECLINE_MESSAGES: Readonly<Record<Schemas['DeclineReasonCode'], string>> = {
  insufficient_funds: 'The balance does not cover the amount.',
  card_inactive: 'The card is not activated.',
  card_frozen: 'The card is frozen.',
  card_canceled: 'The card is canceled.',
  card_expired: 'The card has expired.',
  card_lost: 'The card was reported lost.',
  card_stolen: 'The card was reported stolen.',
  cardholder_inactive: 'The cardholder is deactivated.',
  cardholder_blocked: 'The cardholder is blocked.',
  cardholder_verification_required: 'A sanctions alert on the cardholder is open.',
  account_disabled: 'The account is not allowed to spend.',
  merchant_category_blocked: 'The spending controls exclude the merchant’s category.',
  merchant_country_blocked: 'The spending controls exclude the merchant’s country.',
  spending_limit_exceeded: 'A spending limit would be exceeded.',
  authorization_count_exceeded: 'The maximum number of authorizations is reached.',
  merchant_blocked: 'The spending controls exclude the merchant.',
  entry_method_blocked: 'The spending controls exclude the entry method.',
  time_blocked: 'The spending controls exclude the time.',
  merchant_limit_exceeded: 'A spending limit with the merchant would be exceeded.',
  merchant_count_exceeded: 'The maximum number of different merchants is reached.',
  first_use_abroad: 'The card has not been used in this country before.',
  check_failed: 'A check that the spending controls require did not succeed.',
  transaction_not_allowed: 'This type of transaction is not allowed.',
  incorrect_cvc: 'The security code is wrong.',
  incorrect_pin: 'The PIN is wrong.',
  incorrect_expiry: 'The expiry date is wrong.',
  address_mismatch: 'The billing address does not match.',
  authentication_failed: 'The cardholder could not be authenticated.',
  suspected_fraud: 'The transaction is suspected to be fraud.',
  decision_declined: 'Your authorization endpoint declined the authorization.',
  decision_timed_out:
    'Your authorization endpoint did not answer in time, and its default action is to decline.',
  decision_errored:
    'Your authorization endpoint did not return a usable answer, and its default action is to decline.',
  unsupported_currency: 'The currency is not supported.',
  processing_error: 'The network or the service failed.',
}

export function showCardTransaction(row: CardTransactionRow): Schemas['CardTransaction'] {
  const { requested, authorized, held, cleared, refunded, reversed, decline_code: code } = row
  return {
    id: row.id,
    object: 'card_transaction',
    card_id: row.card_id,
    cardholder_id: row.cardholder_id,
    type: row.type,
    status: row.status,
    merchant: row.merchant,
    currency: row.currency,
    amounts: { requested, authorized, held, cleared, refunded, reversed },
    entry_method: row.entry_method,
    wallet: row.wallet,
    decline_reason: code && { code, message: DECLINE_MESSAGES[code] },
    decision_id: row.decision_id,
    expires_at: row.expires_at === null ? null : writeInstant(row.expires_at),
    rules: [...row.rules],
    ...(row.shadow_decisions && { shadow_decisions: [...row.shadow_decisions] }),
    history: [...row.history],
    metadata: row.metadata,
    created: writeInstant(row.created),
    updated: writeInstant(row.updated),
  }
}
