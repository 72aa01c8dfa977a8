/** Card numbers (PANs): check digit and detection in text. */

/** Returns the check digit of a number (Luhn, ISO/IEC 7812-1, annex B). */
export function checkDigit(start: string): string {
  const sum = [...start].reverse().reduce((total, character, index) => {
    const digit = Number(character) * (index % 2 === 0 ? 2 : 1)
    return total + (digit > 9 ? digit - 9 : digit)
  }, 0)
  return String((10 - (sum % 10)) % 10)
}

/** Separators between groups of digits, as in typed text and URLs. */
const SEPARATOR = '(?:[ +-]|%20)?'

/** Pattern of a number with the given first digits and length. */
function numberOf(first: readonly string[], length: number): string {
  const rest = `(?:${SEPARATOR}\\d){${length - first.length}}`
  return first.join(SEPARATOR) + rest
}

/**
 * First digits and lengths of the large networks: Visa, Mastercard, Discover, UnionPay, JCB, American Express, Diners
 * Club.
 */
const NETWORKS = [
  numberOf(['[456]'], 19),
  numberOf(['[456]'], 16),
  numberOf(['2', '[2-7]'], 16),
  numberOf(['3', '5'], 16),
  numberOf(['3', '[47]'], 15),
  numberOf(['3', '[0689]'], 14),
]

/** Consumes only the first digit, so that a candidate inside a longer run of digits is also found. */
const CANDIDATE = new RegExp(`(?<![\\d.])(?=((?:${NETWORKS.join('|')})(?!\\d)))\\d`, 'g')

/** Shown in the log instead of a secret value. */
export const REDACTED = '[redacted]'

/**
 * Replaces every digit sequence that may be a card number: prefix and length of a large network and a valid check
 * digit.
 */
export function redactCardNumbers(text: string): string {
  let safe = ''
  let end = 0
  for (const { index, 1: found = '' } of text.matchAll(CANDIDATE)) {
    const digits = found.replaceAll('%20', '').replaceAll(/\D/g, '')
    if (index < end || checkDigit(digits.slice(0, -1)) !== digits.at(-1)) continue
    safe += text.slice(end, index) + REDACTED
    end = index + found.length
  }
  return safe + text.slice(end)
}
