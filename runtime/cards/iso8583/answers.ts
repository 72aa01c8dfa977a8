/** Writes answers: decisions and acknowledgements as ISO 8583 messages. */
import type { NetworkMessages } from '../network/network.ts'
import { approvedFields, availableBalance } from './amounts.ts'
import type { IsoMessage, IsoValue } from './codec/message.ts'
import type { IsoRequest } from './requests.ts'
import { RESPONSE, responseCode } from './response-codes.ts'

/** Fields that an answer repeats, by which the network finds its request. */
const REPEATED = [2, 3, 4, 6, 7, 11, 12, 13, 15, 25, 32, 33, 37, 41, 42, 49, 51, 62, 63, 70, 90, 95] as const

/** The currency of all cards. */
const BILLING_CURRENCY = 'usd'

/** Whether a message asks for an answer. Answers have an odd function, the third digit: 0110, 0130. */
export const isRequest = ({ mti }: IsoMessage) => Number(mti.slice(2, 3)) % 2 === 0

/** Returns the answer with a response code: its type is the next function, and the origin without the repetition. */
export function answerWith(request: IsoMessage, code: string): IsoMessage {
  const [version, kind, purpose, origin] = request.mti
  const repeated = REPEATED.flatMap((number): [number, IsoValue][] => {
    const value = request.fields.get(number)
    return value === undefined ? [] : [[number, value]]
  })
  return {
    mti: `${version}${kind}${Number(purpose) + 1}${Number(origin) - (Number(origin) % 2)}`,
    fields: new Map([...repeated, [39, code]]),
  }
}

/** Returns the answer to a request: its decision or acknowledgement as an ISO 8583 message. */
export function writeAnswer(
  message: IsoMessage,
  { kind, requested }: IsoRequest,
  answer: NetworkMessages[keyof NetworkMessages][1],
): IsoMessage {
  const code = responseCode(answer, requested)
  const { mti, fields } = answerWith(message, code)
  const written = new Map(fields)
  if ('decision' in answer && answer.decision === 'approved') {
    if (answer.approval_code !== undefined) written.set(38, answer.approval_code)
    if (code === RESPONSE.partlyApproved && answer.amount !== undefined)
      for (const [number, value] of approvedFields(message, answer.amount)) written.set(number, value)
    if (kind === 'inquireBalance' && answer.available !== undefined)
      written.set(54, new Map([['1', availableBalance(message, answer.available, BILLING_CURRENCY)]]))
  }
  return { mti, fields: written }
}
