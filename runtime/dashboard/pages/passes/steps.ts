/** Adds to and subtracts from values of passes that contain a number, such as points, stamps, and balances. */

/** A number with at most two decimals, and the text around it: `120`, `$25.00`, `25.00 EUR`, `3/10`, or `3 of 10`. */
const COUNTED = /^(\p{Sc}?)(\d{1,12})(?:\.(\d{1,2}))?(\s?(?:\/|of)\s?\d{1,12}|\s[A-Z]{3})?$/u

export function isCounted(value: string): boolean {
  return COUNTED.test(value)
}

/**
 * Returns the value after a step. The number of decimals stays the same, or grows to that of the step.
 *
 * @param by amount, such as `5` or `-2.50`.
 * @returns undefined if the value contains no such number, or if `by` is not a number or the result is below 0.
 */
export function step(value: string, by: string): string | undefined {
  const [, unit = '', whole, part = '', rest = ''] = COUNTED.exec(value) ?? []
  const [, sign, byWhole, byPart = ''] = /^(-?)(\d{1,12})(?:\.(\d{1,2}))?$/.exec(by) ?? []
  if (whole === undefined || byWhole === undefined) return undefined
  const places = Math.max(part.length, byPart.length)
  const units = (integer: string, decimals: string) => BigInt(integer + decimals.padEnd(places, '0'))
  const change = units(byWhole, byPart)
  const sum = units(whole, part) + (sign === '-' ? -change : change)
  if (sum < 0n) return undefined
  const digits = String(sum).padStart(places + 1, '0')
  const at = digits.length - places
  return `${unit}${digits.slice(0, at)}${places > 0 ? `.${digits.slice(at)}` : ''}${rest}`
}
