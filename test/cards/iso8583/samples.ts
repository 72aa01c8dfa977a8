/** Messages of a merchant's purchase, in both dialects, and a network that records what it is asked. */
import type { Dialect } from '../../../runtime/cards/iso8583/codec/dialect.ts'
import type { IsoMessage, IsoValue } from '../../../runtime/cards/iso8583/codec/message.ts'
import { DIALECTS } from '../../../runtime/cards/iso8583/dialects/dialects.ts'
import {
  type Network,
  type NetworkMessages,
  unavailableAnswer,
} from '../../../runtime/cards/network/network.ts'
import type { Environment } from '../../../runtime/platform/environment.ts'

export const CARD = '4000001234567899'
/** 1 June 2026, the time of the samples. */
export const NOW = Date.parse('2026-06-01T12:00:05.000Z')

export const parts = (values: Readonly<Record<string, string>>): IsoValue => new Map(Object.entries(values))

/** Digits and text that both dialects write in the same way. */
const PURCHASE: Readonly<Record<number, IsoValue>> = {
  2: CARD,
  3: '000000',
  4: '000000001250',
  7: '0601120000',
  11: '000123',
  18: '5812',
  22: '051',
  25: '00',
  32: '400000',
  37: '615212000123',
  41: 'TERM0001',
  42: 'MERCHANT0000001',
  49: '840',
}

/** Private fields of a purchase with the transaction identifier that the tests expect. */
const PRIVATE: Readonly<Record<keyof typeof DIALECTS, Readonly<Record<number, IsoValue>>>> = {
  ascii: {
    15: '0601',
    43: parts({
      name: 'Corner Bistro'.padEnd(22),
      space: ' ',
      city: 'Portland'.padEnd(13),
      gap: ' ',
      country: 'USA',
    }),
    63: parts({ network: 'MCC', reference: 'ABC123' }),
  },
  bcd: {
    43: parts({ name: 'Corner Bistro'.padEnd(25), city: 'Portland'.padEnd(13), country: 'US' }),
    62: parts({ 2: '586152432000123' }),
  },
}

export const TRANSACTION_IDS = { ascii: 'MCCABC1230601', bcd: '586152432000123' }
export const DIALECT_NAMES = ['ascii', 'bcd'] as const

/** Returns a purchase of 12.50 dollars. Undefined leaves a field out. */
export function purchase(
  name: keyof typeof DIALECTS,
  changes: Readonly<Record<number, IsoValue | undefined>> = {},
  mti = '0100',
): IsoMessage {
  const fields = Object.entries({ ...PURCHASE, ...PRIVATE[name], ...changes }).flatMap(
    ([number, value]): [number, IsoValue][] => (value === undefined ? [] : [[Number(number), value]]),
  )
  return { mti, fields: new Map(fields) }
}

export interface RecordedCall {
  readonly environment: Environment
  readonly kind: keyof NetworkMessages
  readonly message: NetworkMessages[keyof NetworkMessages][0]
}

/** A network that records its calls, and answers with the given members in place of an approval. */
export function recordingNetwork(answer: object = {}): Network & { readonly calls: RecordedCall[] } {
  const calls: RecordedCall[] = []
  return {
    calls,
    async exchange(environment, kind, message) {
      calls.push({ environment, kind, message })
      const { message_id } = message
      const usual =
        'decision' in unavailableAnswer(kind, message_id)
          ? ({ decision: 'approved' } as const)
          : ({ outcome: 'applied' } as const)
      return { message_id, ...usual, ...answer }
    },
  }
}

export const dialectOf = (name: keyof typeof DIALECTS): Dialect => DIALECTS[name]
