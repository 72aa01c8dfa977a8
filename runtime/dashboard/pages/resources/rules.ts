/** What the rules of authorizations say, in words. */
import type { components } from '../../../../generated/canonical/types.ts'
import { type Html, html } from '../../../platform/html.ts'
import { money, words } from '../../engine/values.ts'

type ShownRule = components['schemas']['JudgedRule']

const QUESTIONS: Readonly<Record<string, string>> = {
  card_activated: 'The card has to be activated.',
  card_not_canceled: 'The card must not be canceled.',
  card_not_expired: 'The card must not have expired.',
  card_not_frozen: 'The card must not be frozen.',
  cardholder_active: 'The cardholder has to be active.',
  cardholder_verified: 'The cardholder has to be verified.',
  cardholder_not_blocked: 'The cardholder must not be blocked by a sanctions list.',
  currency: 'The amount has to be in a currency of the card.',
  merchant_category: 'The card’s controls have to allow the merchant’s category.',
  merchant_country: 'The card’s controls have to allow the merchant’s country.',
  balance: 'The balance has to cover the amount.',
}

/** Rules whose measures are amounts. */
const OF_MONEY = /^(balance$|spending_limit)/

/** The rule, with what it allows and what it found, where it has a measure. */
export function explainRule({ rule, limit, observed, outcome }: ShownRule, currency: string): Html {
  const question = QUESTIONS[rule] ?? `${words(rule)} must not be exceeded.`
  const show = (text: string) =>
    OF_MONEY.test(rule) && /^-?\d+$/.test(text) ? money(Number(text), currency) : text
  return html`${question}${limit !== undefined && html` Allowed: ${show(limit)}.`}${
    observed !== undefined && html` Found: ${show(observed)}.`
  }${outcome === 'skipped' && ' It did not apply.'}`
}
