/** Response codes (field 39) of decisions. */
import type { NetworkMessages } from '../network/network.ts'
import type { DeclineCode } from '../transactions/findings.ts'

type Answer = NetworkMessages[keyof NetworkMessages][1]

/** Codes that are not decline reasons. */
export const RESPONSE = {
  approved: '00',
  partlyApproved: '10',
  /** Approval of an amount of 0: there is no reason to decline the card. */
  verified: '85',
  /** The network decides by its stand-in rules. */
  unavailable: '91',
  malformed: '30',
} as const

/** Codes by which a network reports in an advice that it approved. */
export const APPROVALS: ReadonlySet<string> = new Set(['00', '08', '10', '11', '85', '87'])

/**
 * Codes by decline reason. None of them lets the network decide instead: the decision is made. 05 is a decline without a
 * reason for the merchant.
 */
const DECLINES: Readonly<Record<DeclineCode | 'unknown_card', string>> = {
  unknown_card: '14',
  insufficient_funds: '51',
  card_inactive: '62',
  card_frozen: '62',
  card_canceled: '14',
  card_expired: '54',
  card_lost: '41',
  card_stolen: '43',
  cardholder_inactive: '62',
  cardholder_blocked: '62',
  cardholder_verification_required: '62',
  account_disabled: '62',
  merchant_category_blocked: '57',
  merchant_country_blocked: '62',
  spending_limit_exceeded: '61',
  authorization_count_exceeded: '65',
  merchant_blocked: '57',
  entry_method_blocked: '57',
  time_blocked: '57',
  merchant_limit_exceeded: '61',
  merchant_count_exceeded: '65',
  first_use_abroad: '62',
  check_failed: '05',
  transaction_not_allowed: '57',
  incorrect_cvc: '82',
  incorrect_pin: '55',
  incorrect_expiry: '54',
  address_mismatch: '05',
  authentication_failed: '05',
  suspected_fraud: '59',
  decision_declined: '05',
  decision_timed_out: '05',
  decision_errored: '05',
  unsupported_currency: '57',
  processing_error: '96',
}

const isDeclineCode = (text: string): text is keyof typeof DECLINES => Object.hasOwn(DECLINES, text)

/**
 * Returns the response code of an answer. A message that waits or is an exception is stored, so the network must not send
 * it again.
 *
 * @param requested billed minor units; undefined for a message without an amount.
 */
export function responseCode(answer: Answer, requested: number | undefined): string {
  if ('outcome' in answer) return answer.outcome === 'unavailable' ? RESPONSE.unavailable : RESPONSE.approved
  if (answer.decision === 'unavailable') return RESPONSE.unavailable
  if (answer.decision === 'declined') {
    const reason = answer.decline_reason ?? ''
    return isDeclineCode(reason) ? DECLINES[reason] : '05'
  }
  if (requested === undefined) return RESPONSE.approved
  if (requested === 0) return RESPONSE.verified
  return (answer.amount ?? requested) < requested ? RESPONSE.partlyApproved : RESPONSE.approved
}
