/** Descriptions of the authorization rules. */
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { words } from '../../engine/values.ts'
import { writePart } from './money-texts.ts'

type ShownRule = components['schemas']['JudgedRule']

const QUESTIONS: Readonly<Record<string, string>> = {
  cardholder_input: 'The network must find no mismatch in what the cardholder entered.',
  wallet_token_active: 'The card must be active in the wallet.',
  spending_limit_per_authorization: 'The limit per authorization must cover the amount.',
  spending_limit_daily: 'The daily limit must cover the spending.',
  spending_limit_weekly: 'The weekly limit must cover the spending.',
  spending_limit_monthly: 'The monthly limit must cover the spending.',
  spending_limit_yearly: 'The yearly limit must cover the spending.',
  spending_limit_all_time: 'The all-time limit must cover the spending.',
  max_authorization_count: 'The maximum number of authorizations must not be exceeded.',
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
  merchant: 'The spending controls must allow the merchant.',
  entry_method: 'The spending controls must allow the entry method.',
  allowed_times: 'The spending controls must allow the time.',
  check_cvc: 'The check of the security code must have the required result.',
  check_address_line: 'The check of the street must have the required result.',
  check_postal_code: 'The check of the postal code must have the required result.',
  first_use_abroad: 'The card must have been used in the country before.',
  merchant_limit_daily: 'The daily limit with the merchant must cover the spending.',
  merchant_limit_weekly: 'The weekly limit with the merchant must cover the spending.',
  merchant_limit_monthly: 'The monthly limit with the merchant must cover the spending.',
  merchant_limit_yearly: 'The yearly limit with the merchant must cover the spending.',
  merchant_limit_all_time: 'The all-time limit with the merchant must cover the spending.',
  merchant_count_daily: 'The daily number of merchants must not be exceeded.',
  merchant_count_weekly: 'The weekly number of merchants must not be exceeded.',
  merchant_count_monthly: 'The monthly number of merchants must not be exceeded.',
  merchant_count_yearly: 'The yearly number of merchants must not be exceeded.',
  merchant_count_all_time: 'The all-time number of merchants must not be exceeded.',
  decision: 'Your authorization endpoint must approve the authorization.',
  balance: 'The available balance must cover the amount.',
}

/** Rules whose limit and observed value are amounts in cents. */
const OF_MONEY = /^(balance$|spending_limit|merchant_limit)/

export function explainRule({ rule }: ShownRule): string {
  return QUESTIONS[rule] ?? words(rule)
}

/** Shows the observed value and the limit of a rule, such as `50.00 of 200.00 USD`. Undefined if the rule has none. */
export function compareRule({ rule, limit, observed }: ShownRule, currency: string): Html | undefined {
  if (limit === undefined || observed === undefined) return undefined
  const isMoney = OF_MONEY.test(rule) && [limit, observed].every((text) => /^-?\d+$/.test(text))
  return html`<span class="number">${
    isMoney
      ? writePart(Number(observed), Number(limit), currency)
      : rule.startsWith('check_')
        ? words(observed)
        : `${observed} of ${limit}`
  }</span>`
}
