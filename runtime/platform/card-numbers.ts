/** Card numbers (PANs): their check digit, and how to find them in a text. */

/** The digit that makes a number pass the check of ISO/IEC 7812-1, annex B (Luhn). */
export function checkDigit(start: string): string {
  const sum = [...start].reverse().reduce((total, character, index) => {
    const digit = Number(character) * (index % 2 === 0 ? 2 : 1)
    return total + (digit > 9 ? digit - 9 : digit)
  }, 0)
  return String((10 - (sum % 10)) % 10)
}

/** Separators that people and URLs put between groups of digits. */
const SEPARATOR = '(?:[ +-]|%20)?'

/** A number that begins with these digits and has this many. */
function numberOf(first: readonly string[], length: number): string {
  const rest = `(?:${SEPARATOR}\\d){${length - first.length}}`
  return first.join(SEPARATOR) + rest
}

/** First digits and lengths of the large networks: Visa, Mastercard, Discover, UnionPay, JCB, American Express, Diners Club. */
const NETWORKS = [
  numberOf(['[456]'], 19),
  numberOf(['[456]'], 16),
  numberOf(['2', '[2-7]'], 16),
  numberOf(['3', '5'], 16),
  numberOf(['3', '[47]'], 15),
  numberOf(['3', '[0689]'], 14),
]

/** Matches at the first digit alone, so that a number is found although digits before it look like the beginning of one. */
const CANDIDATE = new RegExp(`(?<![\\d.])(?=((?:${NETWORKS.join('|')})(?!\\d)))\\d`, 'g')

const REDACTED = '[redacted]'

/** Replaces each text of digits that could be a card number: one of a large network whose check digit is right. */
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
