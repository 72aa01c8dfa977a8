/** Descriptions of the authorization rules. */
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { money, words } from '../../engine/values.ts'

type ShownRule = components['schemas']['JudgedRule']

const QUESTIONS: Readonly<Record<string, string>> = {
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

/** Describes the rule, with its limit and its observed value if it has them. */
export function explainRule({ rule, limit, observed, outcome }: ShownRule, currency: string): Html {
  const question = QUESTIONS[rule] ?? `${words(rule)} must not be exceeded.`
  const show = (text: string) =>
    OF_MONEY.test(rule) && /^-?\d+$/.test(text) ? money(Number(text), currency) : text
  return html`${question}${limit !== undefined && html`  Limit: ${show(limit)}.`}${
    observed !== undefined && html`  Observed: ${show(observed)}.`
  }${outcome === 'skipped' && ' The rule did not apply.'}`
}
