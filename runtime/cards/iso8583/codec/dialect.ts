/** What a dialect states: how a network writes fields, and where it puts what this service needs. */
import type { NetworkMessages } from '../../network/network.ts'
import type { IsoMessage } from './message.ts'
import type { PartsFormat } from './parts.ts'

/**
 * Characters of a field, by ISO 8583: `n` digits, `an` letters, digits and spaces, `ans` printable characters, `z` track
 * data, `x+n` C (credit) or D (debit) and digits, `b` bytes.
 */
export type FieldKind = 'n' | 'an' | 'ans' | 'z' | 'x+n' | 'b'

export interface FieldFormat {
  readonly name: string
  readonly kind: FieldKind
  /** Exact length of a fixed field, otherwise the maximum: in bytes for `b`, otherwise in characters. */
  readonly length: number
  /** Digits of the length prefix: 0 for a fixed field, 2 for LLVAR, 3 for LLLVAR. */
  readonly prefix: 0 | 2 | 3
  readonly parts?: PartsFormat
  /**
   * `card_number`: the field has a card number. Texts for people show its first six and last four digits.
   * `hidden`: texts show nothing of the field, such as an encrypted PIN.
   */
  readonly secret?: 'card_number' | 'hidden'
}

export type FieldTable = Readonly<Record<number, FieldFormat>>

type Authorization = NetworkMessages['authorize'][0]
export type IsoChecks = NonNullable<Authorization['checks']>
export type IsoWallet = NonNullable<Authorization['wallet']>

/** Where a dialect puts what ISO 8583 leaves to the networks. */
export interface DialectMeaning {
  /** The network's identifier of the card use, which all its messages share. */
  transactionId(message: IsoMessage): string | undefined
  /** Whether an authorization message asks for more money for an open authorization. */
  isIncrement(message: IsoMessage): boolean
  /** Whether the merchant accepts an approval of less than the amount. */
  allowsPartial(message: IsoMessage): boolean
  /** Whether a clearing is the last one of its transaction; undefined if the message does not say it. */
  isFinal(message: IsoMessage): boolean | undefined
  wallet(message: IsoMessage): IsoWallet | undefined
  /** Results of the verifications that the network made. */
  checks(message: IsoMessage): IsoChecks
  /** Alpha-2 code of the merchant's country. */
  country(message: IsoMessage): string | undefined
  /** Part of field 95 with the amount that remains in the billing currency, if the dialect has one. */
  readonly remainingBilled?: string
}

export interface Dialect {
  readonly name: string
  /** Length in front of each message: two bytes, big-endian, or four ASCII digits. It does not count itself. */
  readonly frame: 'binary2' | 'ascii4'
  /** Encoding of the message type, of `n`, `z` and the digits of `x+n`. Text is always ASCII. */
  readonly digits: 'ascii' | 'bcd'
  readonly bitmap: 'hex' | 'binary'
  /**
   * Encoding of length prefixes. `bcd`: one byte for LLVAR and two for LLLVAR. `binary`: the same, big-endian. A length
   * counts digits, characters or bytes, as in `FieldFormat`, however they are encoded.
   */
  readonly lengths: 'ascii' | 'bcd' | 'binary'
  /** Encoding of `b`. */
  readonly bytes: 'hex' | 'raw'
  readonly fields: FieldTable
  readonly meaning: DialectMeaning
}

const NOTATION = /^(n|an|ans|z|x\+n|b)(|\.\.|\.\.\.)(\d+)$/

/**
 * Reads ISO 8583's notation of a format: `n6` is fixed, `n..19` has two digits of length, `ans...999` three. The length
 * of `b` is in bytes here.
 */
export function field(name: string, notation: string, more: Partial<FieldFormat> = {}): FieldFormat {
  const [, kind, dots = '', length] = NOTATION.exec(notation) ?? []
  if (!isKind(kind)) throw new Error(`${name}: "${notation}" is not a format, such as n6, n..19 or ans...999`)
  const prefix = dots.length === 0 ? 0 : dots.length === 2 ? 2 : 3
  return { name, kind, length: Number(length), prefix, ...more }
}

const KINDS = ['n', 'an', 'ans', 'z', 'x+n', 'b'] as const
const isKind = (text: string | undefined): text is FieldKind => KINDS.some((kind) => kind === text)
