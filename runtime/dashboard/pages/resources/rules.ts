/** Descriptions of the authorization rules. */
import type { components } from '../../../../generated/canonical/types.ts'
import type { ShownText } from '../../engine/shapes.ts'
import { money, words } from '../../engine/values.ts'

type ShownRule = components['schemas']['JudgedRule']

const QUESTIONS: Readonly<Record<string, string>> = {
  cardholder_input: 'The network must find no mismatch in what the cardholder entered.',
  wallet_token_active: 'The card must be active in the wallet.',
  spending_limit_per_authorization: 'The amount must be within the limit for one authorization.',
  max_authorization_count: 'The card must not have reached its maximum number of authorizations.',
  card_activated: 'The card must be activated.',
  card_not_canceled: 'The card must not be canceled.',
  card_not_expired: 'The card must not have expired.',
  card_not_frozen: 'The card must not be frozen.',
  cardholder_active: 'The cardholder must be active.',
  cardholder_verified: 'The cardholder must be verified.',
  cardholder_not_blocked: 'The cardholder must not be blocked by a sanctions list.',
  currency: 'The amount must be in a currency that the card supports.',
  merchant_category: 'The spending controls must allow the merchant category.',
  merchant_country: 'The spending controls must allow the merchant country.',
  balance: 'The available balance must cover the amount.',
}

/** Rules whose limit and observed value are amounts in cents. */
const OF_MONEY = /^(balance$|spending_limit)/

export function explainRule({ rule }: ShownRule): string {
  return QUESTIONS[rule] ?? `${words(rule)}: the card’s spending must stay within the limit.`
}

/** Shows the limit or the observed value of a rule, or a dash if the rule has none. */
export function showRuleNumber({ rule }: ShownRule, text: string | undefined, currency: string): ShownText {
  if (text === undefined) return '–'
  return OF_MONEY.test(rule) && /^-?\d+$/.test(text) ? money(Number(text), currency) : text
}
