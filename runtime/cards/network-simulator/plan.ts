/** The order in which the network sends the messages of a scenario, and what goes wrong with each. */

import { createRandom, type Random } from '../../platform/random.ts'
import { messagesOf, type SimulatedMessage } from './messages.ts'
import type { CardUse } from './plays.ts'
import type { Disturbances, Scenario } from './scenario.ts'

export interface PlannedMessage {
  readonly sent: SimulatedMessage
  /** The use that it belongs to, from 0. */
  readonly of: number
  readonly use: CardUse
  readonly trouble: keyof Disturbances | 'none'
}

/** Requests wait for an answer at the terminal. */
const REQUESTS = new Set<SimulatedMessage['kind']>(['authorize', 'increment', 'inquireBalance', 'echo'])

function drawTrouble(random: Random, sent: SimulatedMessage, odds: Disturbances): PlannedMessage['trouble'] {
  const isRequest = REQUESTS.has(sent.kind)
  // All are drawn each time, so that one probability does not change what another one draws.
  const drawn = {
    stand_in: random.chance(odds.stand_in) && isRequest,
    given_up: random.chance(odds.given_up) && isRequest,
    late: random.chance(odds.late) && !isRequest,
    lost_answer: random.chance(odds.lost_answer),
    duplicate: random.chance(odds.duplicate),
  }
  return (
    (['stand_in', 'given_up', 'late', 'lost_answer', 'duplicate'] as const).find((each) => drawn[each]) ??
    'none'
  )
}

/**
 * Plans a scenario. The same scenario, cards and start give the same messages in the same order.
 * @param cards numbers of cards. A use of a card beyond the last one begins again at the first.
 * @param start when the first message is sent, in milliseconds since the epoch. The next ones follow in milliseconds.
 */
export function planScenario(
  { seed, uses, disturbances }: Scenario,
  cards: readonly [string, ...string[]],
  start: number,
): readonly PlannedMessage[] {
  const random = createRandom(`plan ${seed}`)
  const planned: (PlannedMessage & { readonly slot: number })[] = []
  uses.forEach((use, of) => {
    let slot = 2 * of
    const next = () => {
      slot += random.between(1, 6)
      return new Date(start + slot).toISOString()
    }
    const cardNumber = cards[(use.card - 1) % cards.length] ?? cards[0]
    const place = { transactionId: `sim-${seed}-${start}-${of + 1}`, cardNumber, next }
    for (const sent of messagesOf(use, place)) {
      const trouble =
        use.stand_in && REQUESTS.has(sent.kind) ? 'stand_in' : drawTrouble(random, sent, disturbances)
      const arrives =
        Date.parse(sent.message.sent_at) - start + (trouble === 'late' ? random.between(5, 40) : 0)
      planned.push({ sent, of, use, trouble, slot: arrives })
    }
  })
  return planned.toSorted((a, b) => a.slot - b.slot || a.of - b.of)
}
