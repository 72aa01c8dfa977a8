/** The day of a merchant: which actions it does, and when. */
import type { Random } from '../../runtime/platform/random.ts'
import type { Actions, Drawn } from './actions/action.ts'
import { CARD_ACTIONS } from './actions/cards.ts'
import { DESTINATION_ACTIONS } from './actions/destinations.ts'
import { ENDPOINT_ACTIONS } from './actions/endpoints.ts'
import { HOOK_ACTIONS } from './actions/hooks.ts'
import { KEY_ACTIONS } from './actions/keys.ts'
import { LIMIT_ACTIONS } from './actions/limits.ts'
import { PASS_ACTIONS } from './actions/passes.ts'
import { PAYOUT_ACTIONS } from './actions/payouts.ts'
import { RIVAL_ACTIONS } from './actions/rivals.ts'
import { SETTLEMENT_ACTIONS } from './actions/settlements.ts'
import { STREAM_ACTIONS } from './actions/streams.ts'
import type { Scheduler } from './clockwork/scheduler.ts'
import type { Merchant } from './merchant.ts'

const ACTIONS: Actions = {
  ...PASS_ACTIONS,
  ...PAYOUT_ACTIONS,
  ...CARD_ACTIONS,
  ...KEY_ACTIONS,
  ...HOOK_ACTIONS,
  ...DESTINATION_ACTIONS,
  ...SETTLEMENT_ACTIONS,
  ...LIMIT_ACTIONS,
  ...ENDPOINT_ACTIONS,
  ...STREAM_ACTIONS,
  ...RIVAL_ACTIONS,
}

/** One action of a merchant: when in the day, and which. */
interface Action extends Drawn {
  readonly atMs: number
  readonly name: string
}

/** Names of all actions. */
export const ACTION_NAMES: readonly string[] = Object.keys(ACTIONS)

/** Returns each of the actions as often as it occurs in a deck. */
export const deckOf = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => Array.from({ length: ACTIONS[name]!.times }, () => name))

/** Returns names from shuffled decks, one deck after the other: a day that is as long as a deck has every action. */
function* deal(random: Random, names: readonly string[]): Generator<string, never> {
  for (;;) {
    const deck = [...deckOf(names)]
    while (deck.length > 0) yield deck.splice(random.between(0, deck.length - 1), 1)[0]!
  }
}

/** Actions start at most this long after midnight, so that everything comes to rest at the end of the day. */
const BUSY_MS = 15 * 3_600_000

/** Draws the actions of a day, in the order of their times. Most come in bursts, as if by many clients at once. */
export function planDay(random: Random, count: number, kinds: readonly string[]): readonly Action[] {
  const names = deal(random, kinds)
  const actions = Array.from({ length: count }, (): Action => {
    const burst = random.between(0, 5) * (BUSY_MS / 6)
    return {
      atMs: burst + random.between(0, random.chance(0.8) ? 1000 : 60_000),
      name: names.next().value,
      amount: random.between(1, 40) * 25,
      pick: random.between(0, 1000),
    }
  })
  return actions.toSorted((a, b) => a.atMs - b.atMs)
}

/** Lives through the actions of a day. Each starts at its time, whether or not earlier ones of others have ended. */
export async function liveDay(
  { sleep }: Pick<Scheduler, 'sleep'>,
  merchant: Merchant,
  actions: readonly Action[],
): Promise<void> {
  const act = async ({ name, ...drawn }: Action) => {
    const { act, isCalm } = ACTIONS[name]!
    if (merchant.isExact || !isCalm) await act(merchant, drawn)
  }
  let before = Promise.resolve()
  await Promise.all(
    actions.map(async (action) => {
      await sleep(action.atMs)
      if (!merchant.isExact) return act(action)
      before = before.then(() => act(action))
      await before
    }),
  )
}
