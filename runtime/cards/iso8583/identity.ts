/** Identifiers and instants of messages. */
import { parseInstant } from '../../platform/instants.ts'
import { type IsoMessage, valueAt } from './codec/message.ts'
import { refuse } from './refusal.ts'

/**
 * Resolves a transmission time (MMDDhhmmss in UTC), which has no year, to the instant that is closest to the clock. Returns
 * undefined if the time does not exist, such as 30 February.
 *
 * @param now milliseconds since the epoch.
 */
export function closestInstant(time: string, now: number): number | undefined {
  const [, month, day, hour, minute, second] = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(time) ?? []
  const year = new Date(now).getUTCFullYear()
  return [year - 1, year, year + 1]
    .flatMap((each) => parseInstant(`${each}-${month}-${day}T${hour}:${minute}:${second}.000Z`) ?? [])
    .toSorted((a, b) => Math.abs(a - now) - Math.abs(b - now))[0]
}

/** What identifies a message: a repetition has the same. */
export interface IsoIdentity {
  readonly message_id: string
  readonly sent_at: string
}

/** The parts of an identifier. */
interface IdentityParts {
  readonly mti: string
  readonly stan: string
  /** Milliseconds since the epoch. */
  readonly sentAt: number
  /** Digits, which may be padded with zeros. Empty if the message has no acquirer. */
  readonly acquirer: string
}

/**
 * Returns `TYPE-TIME-TRACE-ACQUIRER`. The type is that of the original, so that a repetition (0101 of 0100) has its
 * identifier. The time has the year, because trace numbers repeat.
 */
function messageId({ mti, stan, sentAt, acquirer }: IdentityParts): string {
  const time = new Date(sentAt).toISOString().slice(0, 19).replaceAll(/\D/g, '')
  const origin = Number(mti.slice(3))
  return [`${mti.slice(0, 3)}${origin - (origin % 2)}`, time, stan, acquirer.replace(/^0+/, '')].join('-')
}

/** Reads the identity of a message from its type and the fields 7, 11 and 32. */
export function identify(message: IsoMessage, now: number): IsoIdentity {
  const sentAt = sentAtOf(message, now)
  const parts = { mti: message.mti, stan: stanOf(message), sentAt, acquirer: valueAt(message, '32') ?? '' }
  return { message_id: messageId(parts), sent_at: new Date(sentAt).toISOString() }
}

/**
 * Reads the identity of the message that an advice is about: from field 90, or else the request with the same fields as
 * the advice.
 */
export function identifyOriginal(message: IsoMessage, now: number): IsoIdentity {
  const sentAt = sentAtOf(message, now)
  const time = valueAt(message, '90.sent')
  const original = time === undefined ? undefined : closestInstant(time, sentAt)
  const parts =
    original === undefined
      ? { mti: '0100', stan: stanOf(message), sentAt, acquirer: valueAt(message, '32') ?? '' }
      : {
          mti: valueAt(message, '90.mti') ?? '0100',
          stan: valueAt(message, '90.stan') ?? '',
          sentAt: original,
          acquirer: valueAt(message, '90.acquirer') ?? '',
        }
  return { message_id: messageId(parts), sent_at: new Date(parts.sentAt).toISOString() }
}

function sentAtOf(message: IsoMessage, now: number): number {
  const sentAt = closestInstant(valueAt(message, '7') ?? '', now)
  return sentAt ?? refuse('FORMAT', 'field 7 is not a transmission time')
}

const stanOf = (message: IsoMessage) => valueAt(message, '11') ?? refuse('FORMAT', 'field 11 is missing')
