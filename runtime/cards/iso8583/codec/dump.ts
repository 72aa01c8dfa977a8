/** Hex dumps and texts for people, without card numbers. */

import { checkDigit, REDACTED, redactCardNumbers } from '../../../platform/card-numbers.ts'
import type { Dialect } from './dialect.ts'
import type { IsoMessage, IsoValue } from './message.ts'
import { isTemplate } from './tags.ts'

/** Bytes from `start` up to `end`, without it. */
export interface ByteSpan {
  readonly start: number
  readonly end: number
}

const BYTES_A_LINE = 16

/**
 * Lengths from which a run of digits may be a card number. They are short, because a damaged digit splits a number in
 * two. In ASCII, a digit takes two hexadecimal digits that both are decimal.
 */
const RUNS = { ascii: /\d{12,}/g, bcd: /\d{7,}/g }

/** Digits of a card number that are masked together wherever they are, in ASCII or BCD. */
const PIECE = 6

/** What a dump must not show. */
export interface DumpSecrets {
  readonly spans: readonly ByteSpan[]
  /** Value of field 2, if the message was read up to there. */
  readonly cardNumber: string | undefined
  readonly digits: Dialect['digits']
}

/**
 * Returns lines of offset, bytes and printable characters, with `*` for secrets. If field 2 has a valid check digit, the
 * layout can be trusted up to there: the dump hides the given spans and all pieces of that number. Otherwise, the number
 * may be anywhere, and the dump hides every run of digits.
 */
export function dump(bytes: Uint8Array, { spans, cardNumber = '', digits }: DumpSecrets): string {
  let hex = Buffer.from(bytes).toString('hex').toUpperCase()
  const hide = (from: number, length: number) => {
    hex = hex.slice(0, from) + '*'.repeat(length) + hex.slice(from + length)
  }
  const original = hex
  if (cardNumber.length >= 12 && checkDigit(cardNumber.slice(0, -1)) === cardNumber.at(-1)) {
    for (let start = 0; start + PIECE <= cardNumber.length; start++) {
      const piece = cardNumber.slice(start, start + PIECE)
      for (const form of [piece, piece.replaceAll(/\d/g, '3$&')])
        for (let at = original.indexOf(form); at !== -1; at = original.indexOf(form, at + 1))
          hide(at, form.length)
    }
  } else {
    for (const { index, 0: run } of original.matchAll(RUNS[digits])) hide(index, run.length)
  }
  for (const { start, end } of spans) hide(start * 2, Math.max(0, Math.min(end, bytes.length) - start) * 2)
  const lines: string[] = []
  for (let start = 0; start < bytes.length; start += BYTES_A_LINE) {
    const pairs = hex.slice(start * 2, (start + BYTES_A_LINE) * 2).match(/../g) ?? []
    const text = pairs
      .map((pair) => (pair.includes('*') ? '*' : printable(Number.parseInt(pair, 16))))
      .join('')
    lines.push(
      `${start.toString(16).padStart(4, '0')}  ${pairs.join(' ').padEnd(BYTES_A_LINE * 3)} |${text}|`,
    )
  }
  return lines.join('\n')
}

const printable = (code: number) => (code >= 0x20 && code <= 0x7e ? String.fromCharCode(code) : '.')

/** Shows the first six and the last four digits, as PCI DSS 3.4.1 allows. A shorter text cannot be a card number. */
export function maskCardNumber(text: string): string {
  const digits = /\d{12,19}/.exec(text)?.[0]
  return digits === undefined
    ? REDACTED
    : `${digits.slice(0, 6)}${'*'.repeat(digits.length - 10)}${digits.slice(-4)}`
}

/** Returns the fields of a message, one a line, with card numbers masked and secrets left out. */
export function describeMessage({ mti, fields }: IsoMessage, dialect: Dialect): string {
  const lines = [...fields]
    .toSorted(([a], [b]) => a - b)
    .map(([number, value]) => describeField(number, value, dialect))
  return [`message type ${mti}`, ...lines].join('\n')
}

function describeField(number: number, value: IsoValue, dialect: Dialect): string {
  const format = dialect.fields[number]
  const head = `${number} ${format?.name}:`
  if (format?.secret === 'hidden') return `${head} ${REDACTED}`
  if (typeof value === 'string')
    return `${head} ${format?.secret === 'card_number' ? maskCardNumber(value) : redactCardNumbers(value)}`
  const secrets = format?.parts?.secrets
  const parts = [...value].map(([name, part]) => {
    const isHidden = secrets?.has(name) || (secrets?.has('57') && isTemplate(name))
    return `  ${name}: ${isHidden ? REDACTED : redactCardNumbers(part)}`.trimEnd()
  })
  return [head, ...parts].join('\n')
}
