/** Reads what a network asks for: ISO 8583 messages as messages of the network document. */
import { CardNumber, NetworkMerchant, NetworkTransactionId } from '../../../generated/network/validators.js'
import type { NetworkMessages } from '../network/network.ts'
import { type NetworkKind, VALIDATORS } from '../processor/message-routes.ts'
import { readAmounts, releasedAmount } from './amounts.ts'
import type { Dialect } from './codec/dialect.ts'
import { type IsoMessage, valueAt } from './codec/message.ts'
import { identify, identifyOriginal } from './identity.ts'
import { refuse } from './refusal.ts'
import { APPROVALS } from './response-codes.ts'

/** The messages of the network document that ISO 8583 messages become. */
type IsoKind = Exclude<NetworkKind, 'moveChargeback' | 'changeToken'>

/** Parts of messages whose form ISO 8583 does not ensure. */
const PARTS: Readonly<Record<string, (value: unknown) => boolean>> = {
  card_number: CardNumber,
  transaction_id: NetworkTransactionId,
  merchant: NetworkMerchant,
}

export interface IsoRequest {
  readonly kind: IsoKind
  readonly message: NetworkMessages[IsoKind][0]
  /** Billed minor units; undefined for a message without an amount. */
  readonly requested?: number
}

/** Creates a request. A message that the network document does not allow is a format error. */
function request<Kind extends IsoKind>(
  kind: Kind,
  message: NetworkMessages[Kind][0],
  requested?: number,
): IsoRequest {
  const isValid: (value: unknown) => boolean = VALIDATORS[kind]
  if (!isValid(message)) {
    const [name] = Object.entries(message).find(([part, value]) => PARTS[part]?.(value) === false) ?? []
    refuse('FORMAT', `the message is not valid: ${name ?? `the fields of ${kind}`}`)
  }
  return { kind, message, ...(requested !== undefined && { requested }) }
}

/**
 * Reads a request or an advice. Returns undefined for a sign-off, which needs no decision.
 *
 * @param now milliseconds since the epoch.
 * @throws IsoRefusal if a field is missing or invalid, or the kind of message is not supported.
 */
export function readRequest(dialect: Dialect, message: IsoMessage, now: number): IsoRequest | undefined {
  switch (message.mti.slice(0, 3)) {
    case '010':
      return readAuthorization(dialect, message, now)
    case '012':
      return readAdvice(dialect, message, now)
    case '022':
      return readClearing(dialect, message, now)
    case '040':
    case '042': {
      const amount = releasedAmount(message, dialect)
      return request('reverse', {
        ...readCardUse(dialect, message, now),
        ...(amount !== undefined && { amount }),
      })
    }
    case '080':
      return readManagement(message, now)
    default:
      return refuse('UNSUPPORTED', `message type ${message.mti} is not supported`)
  }
}

/** Network management information codes (field 70). */
const SIGN_OFF = '002'
const CONNECTION_TESTS = new Set(['001', '301'])

/** A sign-on and an echo succeed only if the service can decide. Keys are not exchanged over this connection. */
function readManagement(message: IsoMessage, now: number): IsoRequest | undefined {
  const code = valueAt(message, '70') ?? ''
  if (code === SIGN_OFF) return undefined
  if (CONNECTION_TESTS.has(code)) return request('echo', identify(message, now))
  return refuse('UNSUPPORTED', 'field 70 is not a sign-on (001), a sign-off (002) or an echo test (301)')
}

/** Kinds of a transaction, by the first digit of the processing code (field 3). */
const transactionKind = (message: IsoMessage) => valueAt(message, '3')?.slice(0, 1)
const DEBIT = '0'
const DEBIT_WITH_CASH = '1'
const CREDIT = '2'
const INQUIRY = '3'

function readAuthorization(dialect: Dialect, message: IsoMessage, now: number): IsoRequest {
  const kind = transactionKind(message)
  const card_number = cardNumberOf(message)
  if (kind === INQUIRY) return request('inquireBalance', { ...identify(message, now), card_number })
  if (kind !== DEBIT && kind !== DEBIT_WITH_CASH)
    return refuse('UNSUPPORTED', 'field 3 is not a purchase, a cash withdrawal or an inquiry')
  const use = readCardUse(dialect, message, now)
  const { billed, merchant } = readAmounts(message)
  const { meaning } = dialect
  if (meaning.isIncrement(message))
    return request('increment', { ...use, amount: billed.amount }, billed.amount)
  const checks = meaning.checks(message)
  return request(
    'authorize',
    {
      ...use,
      ...billed,
      ...(merchant && { merchant_amount: merchant }),
      ...readPointOfSale(dialect, message),
      ...(Object.keys(checks).length > 0 && { checks }),
      partial_approval: meaning.allowsPartial(message),
    },
    billed.amount,
  )
}

function readAdvice(dialect: Dialect, message: IsoMessage, now: number): IsoRequest {
  const use = readCardUse(dialect, message, now)
  const original = identifyOriginal(message, now)
  const { billed } = readAmounts(message)
  const code =
    valueAt(message, '39') ?? refuse('FORMAT', 'field 39 is missing: it has the decision of the network')
  const isIncrement = dialect.meaning.isIncrement(message)
  return request('advise', {
    ...use,
    sent_at: original.sent_at,
    advised_message_id: original.message_id,
    kind: isIncrement ? 'increment' : 'authorization',
    approved: APPROVALS.has(code),
    amount: billed.amount,
    ...(!isIncrement && { currency: billed.currency, ...readPointOfSale(dialect, message) }),
  })
}

function readClearing(dialect: Dialect, message: IsoMessage, now: number): IsoRequest {
  const { merchant, entry_method, wallet } = readPointOfSale(dialect, message)
  const use = { ...readCardUse(dialect, message, now), ...readAmounts(message).billed, merchant }
  if (transactionKind(message) === CREDIT) return request('refund', use)
  const final = dialect.meaning.isFinal(message)
  return request('clear', {
    ...use,
    ...(entry_method && { entry_method }),
    ...(wallet && { wallet }),
    ...(final !== undefined && { final }),
  })
}

/** What all messages of a card use have. */
function readCardUse(dialect: Dialect, message: IsoMessage, now: number) {
  const identity = identify(message, now)
  const acquirer = valueAt(message, '32') ?? refuse('FORMAT', 'field 32 is missing')
  const reference = valueAt(message, '37')?.trim()
  const transaction_id =
    dialect.meaning.transactionId(message) ??
    (reference ? `${acquirer}-${reference}` : refuse('FORMAT', 'the message has no transaction identifier'))
  return { ...identity, transaction_id, card_number: cardNumberOf(message) }
}

/** Reads the card number from field 2, or else from a track or the chip's data. */
function cardNumberOf(message: IsoMessage): string {
  const track1 = /^[A-Z](\d+)\^/.exec(valueAt(message, '45') ?? '')?.[1]
  const number =
    valueAt(message, '2') ||
    valueAt(message, '35')?.split('=')[0] ||
    track1 ||
    valueAt(message, '55.5A')?.replace(/F$/, '') ||
    valueAt(message, '55.57')?.split('D')[0]
  return number ?? refuse('FORMAT', 'the message has no card number')
}

type PointOfSale = Pick<NetworkMessages['authorize'][0], 'merchant' | 'entry_method' | 'wallet'>

/** Entry methods by the first two digits of field 22. */
const ENTRY_METHODS: Readonly<Record<string, PointOfSale['entry_method']>> = {
  '01': 'keyed_in',
  '02': 'swipe',
  '05': 'chip',
  '07': 'contactless',
  '10': 'online',
  '79': 'keyed_in',
  '80': 'swipe',
  '81': 'online',
  '90': 'swipe',
  '91': 'contactless',
  '95': 'chip',
}

/** Point of service condition (field 25) of electronic commerce, whose entry mode may be the same as keyed in. */
const ELECTRONIC_COMMERCE = '59'

function readPointOfSale({ meaning }: Dialect, message: IsoMessage): PointOfSale {
  const text = (path: string) => valueAt(message, path)?.trim() || undefined
  const [network_id, city, country] = [text('42'), text('43.city'), meaning.country(message)]
  const entry_method =
    valueAt(message, '25') === ELECTRONIC_COMMERCE
      ? 'online'
      : ENTRY_METHODS[valueAt(message, '22')?.slice(0, 2) ?? '']
  const wallet = meaning.wallet(message)
  return {
    merchant: {
      name: text('43.name') ?? network_id ?? refuse('FORMAT', 'fields 42 and 43 have no merchant'),
      category_code: valueAt(message, '18') ?? refuse('FORMAT', 'field 18 is missing'),
      ...(network_id && { network_id }),
      ...(city && { city }),
      ...(country && { country }),
    },
    ...(entry_method && { entry_method }),
    ...(wallet && { wallet }),
  }
}
