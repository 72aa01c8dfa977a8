/** Amounts and currencies. Both sides count in the minor unit that ISO 4217 gives the currency, so nothing is scaled. */
import { code, number } from 'currency-codes'
import type { Dialect } from './codec/dialect.ts'
import { type IsoMessage, valueAt } from './codec/message.ts'
import { refuse } from './refusal.ts'

export interface IsoMoney {
  /** Minor units. */
  readonly amount: number
  /** Lower-case ISO 4217 code. */
  readonly currency: string
}

/** Returns the lower-case code of an ISO 4217 number such as `840`. */
function currencyOf(message: IsoMessage, path: string): string {
  const value = valueAt(message, path)
  const currency = value === undefined ? undefined : number(value)?.code.toLowerCase()
  return currency ?? refuse('FORMAT', `field ${path} is not a currency number of ISO 4217`)
}

/** Returns the ISO 4217 number of a lower-case code. */
export function currencyNumber(currency: string): string {
  const found = code(currency)?.number
  if (found === undefined) throw new Error(`${currency} is not a currency of ISO 4217`)
  return found
}

/** What the cardholder pays, and what the merchant asks for if that is in a different currency. */
export interface IsoAmounts {
  readonly billed: IsoMoney
  readonly merchant?: IsoMoney
}

/** Reads the billing amount (fields 6 and 51), which the network sends if it converted the merchant's (4 and 49). */
export function readAmounts(message: IsoMessage): IsoAmounts {
  const merchant = { amount: digitsAt(message, '4'), currency: currencyOf(message, '49') }
  if (valueAt(message, '6') === undefined) return { billed: merchant }
  const billed = { amount: digitsAt(message, '6'), currency: currencyOf(message, '51') }
  return billed.currency === merchant.currency ? { billed } : { billed, merchant }
}

function digitsAt(message: IsoMessage, path: string): number {
  const value = valueAt(message, path) ?? ''
  return /^\d{1,12}$/.test(value) ? Number(value) : refuse('FORMAT', `field ${path} is not an amount`)
}

/** Returns part × whole ÷ total, rounded half up. The product may exceed the integers that a number can hold. */
function scale(whole: number, part: number, total: number): number {
  return Number((2n * BigInt(whole) * BigInt(part) + BigInt(total)) / (2n * BigInt(total)))
}

/**
 * Returns the billed amount that a reversal releases, or undefined for all. Field 95 has the amount that remains, in the
 * merchant's currency. If the dialect has no billed amount there, the billed amount is in the same proportion.
 */
export function releasedAmount(message: IsoMessage, { meaning }: Dialect): number | undefined {
  const isAbsent = (path: string) => /^0*$/.test(valueAt(message, path) ?? '')
  if (isAbsent('95.1')) return undefined
  const { billed, merchant } = readAmounts(message)
  const left = digitsAt(message, '95.1')
  const billedPath = `95.${meaning.remainingBilled}`
  const stays = !merchant
    ? left
    : isAbsent(billedPath)
      ? scale(billed.amount, left, merchant.amount || 1)
      : digitsAt(message, billedPath)
  const released = billed.amount - stays
  return released > 0 ? released : refuse('FORMAT', 'field 95 is not less than the amount that is reversed')
}

/** Returns the fields of a partial approval: the approved amount in both currencies. */
export function approvedFields(message: IsoMessage, approved: number): ReadonlyMap<number, string> {
  const { billed, merchant } = readAmounts(message)
  const asked = merchant ? scale(merchant.amount, approved, billed.amount) : approved
  const fields = new Map([[4, twelve(asked)]])
  return message.fields.has(6) ? fields.set(6, twelve(approved)) : fields
}

/** Account type, amount type 02 (available), currency, sign and amount: one amount of field 54. */
export function availableBalance(message: IsoMessage, available: number, currency: string): string {
  const account = valueAt(message, '3')?.slice(2, 4) ?? '00'
  return `${account}02${currencyNumber(currency)}C${twelve(available)}`
}

/** @param amount minor units; larger amounts are written as the largest that the field holds. */
function twelve(amount: number): string {
  return String(Math.min(amount, 999_999_999_999)).padStart(12, '0')
}
