/** Scenarios of network messages, delivered in order or disturbed. Both deliveries must lead to the same state. */
import fc from 'fast-check'
import type { FormatName } from '../../../runtime/cards/clearing/formats.ts'
import {
  adviceOf,
  messagesOf,
  reversalOf,
  type SimulatedMessage,
} from '../../../runtime/cards/network-simulator/messages.ts'
import { PLAYS, type PlayName, planUse } from '../../../runtime/cards/network-simulator/plays.ts'
import { createRandom } from '../../../runtime/platform/random.ts'

/** Cards of a run, by position: what they decline. */
export const CARDS = [
  { name: 'open', controls: {}, frozen: false },
  {
    name: 'limited',
    controls: { spending_limits: [{ amount: 50_000_000, interval: 'monthly' }] },
    frozen: false,
  },
  { name: 'no electronics', controls: { blocked_categories: ['5732'] }, frozen: false },
  { name: 'frozen', controls: {}, frozen: true },
] as const

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** What the network does instead of asking. */
type StandIn = 'none' | 'approves' | 'declines'

interface DrawnUse {
  readonly play: PlayName
  readonly card: number
  /** From which amounts and branches of the play follow. */
  readonly salt: number
  /** Whether the merchant never collects the money. */
  readonly abandoned: boolean
  /** Whether the merchant collects although the issuer declined. */
  readonly insists: boolean
  readonly standIn: StandIn
  /** Whether the network asks about increments although it has decided on the authorization. */
  readonly asksAgain: boolean
  /** Whether the answer to the authorization gets lost, and the terminal gives up: the network reverses all of it. */
  readonly givenUp: boolean
}

/** What goes wrong with a message. */
interface Trouble {
  /** Milliseconds that the message comes late; requests do not. */
  readonly late: number
  /** How often it is repeated, and how late. */
  readonly repeats: number
  readonly repeatedLate: number
  /** Of a request on which the network decides: whether the service gets the request, too, and when. */
  readonly request: 'never' | 'before' | 'after'
}

export interface DrawnScenario {
  /** How many messages arrive at the same time. */
  readonly together: number
  /** Whether clearings and refunds come in a file, after all messages. */
  readonly filed: FormatName | undefined
  readonly uses: readonly DrawnUse[]
  /** By the number of the message; used again from the first on. */
  readonly troubles: readonly Trouble[]
}

const PLAY_NAMES = (Object.keys(PLAYS) as PlayName[]).filter((name) => name !== 'chargeback')

const lateness = fc.constantFrom(0, 0, 1, 1000, HOUR, 5 * HOUR, 30 * HOUR, 3 * DAY, 9 * DAY)

export const scenarios: fc.Arbitrary<DrawnScenario> = fc.record({
  together: fc.constantFrom(1, 1, 3),
  filed: fc.constantFrom<(FormatName | undefined)[]>(undefined, undefined, 'jsonl', 'csv'),
  uses: fc.array(
    fc.record({
      play: fc.constantFrom(...PLAY_NAMES),
      card: fc.nat({ max: CARDS.length - 1 }),
      salt: fc.nat({ max: 1_000_000 }),
      abandoned: fc.nat({ max: 5 }).map((n) => n === 5),
      insists: fc.nat({ max: 3 }).map((n) => n === 3),
      standIn: fc.constantFrom<StandIn>('none', 'none', 'none', 'approves', 'declines'),
      asksAgain: fc.boolean(),
      givenUp: fc.nat({ max: 5 }).map((n) => n === 5),
    }),
    { minLength: 1, maxLength: 6 },
  ),
  troubles: fc.array(
    fc.record({
      late: lateness,
      repeats: fc.constantFrom(0, 0, 0, 1, 2),
      repeatedLate: lateness,
      request: fc.constantFrom('never' as const, 'before' as const, 'after' as const),
    }),
    { minLength: 1, maxLength: 12 },
  ),
})

export interface Delivery {
  readonly sent: SimulatedMessage
  /** When it arrives, in milliseconds since the epoch. */
  readonly at: number
}

interface Deliveries {
  readonly inOrder: readonly Delivery[]
  readonly disturbed: readonly Delivery[]
}

type Request = Extract<SimulatedMessage, { kind: 'authorize' | 'increment' }>
export const isRequest = (sent: SimulatedMessage): sent is Request =>
  sent.kind === 'authorize' || sent.kind === 'increment'

/** Whether a decision depends on it: only an active token pays. */
const decides = (sent: SimulatedMessage) =>
  isRequest(sent) || (sent.kind === 'changeToken' && ['requested', 'active'].includes(sent.message.status))

/** Whether the service declines, which follows from the card alone: there are funds for all. */
const isDeclined = (sent: Request, card: number, category: string) =>
  sent.kind === 'authorize' &&
  (CARDS[card]!.frozen || (CARDS[card]!.name === 'no electronics' && category === '5732'))

/** Returns the messages of a use that follow from what was decided. */
function sentOf(
  drawn: DrawnUse,
  index: number,
  numbers: readonly string[],
  start: number,
): readonly SimulatedMessage[] {
  const random = createRandom(`${drawn.salt}`)
  const use = planUse(drawn.play, drawn.card + 1, {}, random)
  let time = start + index * HOUR
  const next = () => {
    time += random.between(1, 8) * HOUR + random.between(0, 999)
    return new Date(time).toISOString()
  }
  const place = { transactionId: `net-${index + 1}`, cardNumber: numbers[drawn.card]!, next }
  const all = messagesOf(use, place)
  const request = all.find(isRequest)
  if (!request) return all
  const declined =
    drawn.standIn === 'declines' ||
    (drawn.standIn === 'none' && isDeclined(request, drawn.card, use.merchant.category_code))
  return all.filter(
    (sent) =>
      sent === request ||
      sent.kind === 'changeToken' ||
      (declined ? sent.kind === 'clear' && drawn.insists : !(drawn.abandoned && isCollection(sent))),
  )
}

const isCollection = ({ kind }: SimulatedMessage) => kind === 'clear' || kind === 'refund'

/** Returns the two deliveries of a scenario. */
export function deliver(
  { uses, troubles }: DrawnScenario,
  numbers: readonly string[],
  start: number,
): Deliveries {
  const [inOrder, disturbed]: [Delivery[], Delivery[]] = [[], []]
  let count = 0
  uses.forEach((drawn, index) => {
    const messages = sentOf(drawn, index, numbers, start)
    const request = messages.find(({ kind }) => kind === 'authorize')
    if (drawn.givenUp && request?.kind === 'authorize') {
      const trouble = troubles[count++ % troubles.length]!
      const at = Date.parse(request.message.sent_at)
      const { amount: _, ...message } = reversalOf(request, new Date(at + 1).toISOString()).message
      const reversal = { kind: 'reverse', message } as const
      const isNever = trouble.request === 'never'
      inOrder.push(...(isNever ? [] : [{ sent: request, at }]), { sent: reversal, at: at + 1 })
      const arrives = trouble.request === 'before' ? at : at + trouble.late + 2
      disturbed.push(...(isNever ? [] : [{ sent: request, at: arrives }]), {
        sent: reversal,
        at: at + trouble.late + 1,
      })
      return
    }
    for (const sent of messages) {
      const trouble = troubles[count % troubles.length]!
      count += 1
      const at = Date.parse(sent.message.sent_at)
      const repeat = (again: SimulatedMessage, from: number) => {
        for (let n = 1; n <= trouble.repeats; n += 1)
          disturbed.push({ sent: again, at: from + n * (1 + trouble.repeatedLate) })
      }
      // Only a card that declines nothing, because the network and the service decide the same then.
      const asksAgain = drawn.asksAgain && ['open', 'limited'].includes(CARDS[drawn.card]!.name)
      const asks = drawn.standIn === 'none' || (sent.kind === 'increment' && asksAgain)
      if (isRequest(sent) && !asks) {
        const advice = adviceOf(sent, drawn.standIn !== 'declines')
        inOrder.push({ sent: advice, at })
        disturbed.push({ sent: advice, at: at + trouble.late + 2 })
        repeat(advice, at + trouble.late + 2)
        if (trouble.request === 'before') disturbed.push({ sent, at })
        if (trouble.request === 'after') disturbed.push({ sent, at: at + trouble.late + 3 })
      } else {
        const late = decides(sent) ? 0 : trouble.late
        inOrder.push({ sent, at })
        disturbed.push({ sent, at: at + late })
        repeat(sent, at + late)
      }
    }
  })
  const byTime = (all: Delivery[]) => all.toSorted((a, b) => a.at - b.at)
  return { inOrder: byTime(inOrder), disturbed: byTime(disturbed) }
}
