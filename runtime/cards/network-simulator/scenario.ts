/** Scenarios: what happens to cards, drawn by seed. */

import { createRandom, type Random } from '../../platform/random.ts'
import { type CardUse, PLAYS, type PlayName, planUse } from './plays.ts'

/** How often something goes wrong on the way: probabilities from 0 to 1 for each message. */
export interface Disturbances {
  /** The network sends the message twice. */
  readonly duplicate: number
  /** The answer gets lost; the network repeats the message. */
  readonly lost_answer: number
  /** The answer gets lost, and the terminal gives up: the network reverses the request. */
  readonly given_up: number
  /** The message arrives after later ones. Requests never do, because a terminal waits for them. */
  readonly late: number
  /** The network decides on the request without asking. */
  readonly stand_in: number
}

export interface Scenario {
  readonly seed: number
  readonly disturbances: Disturbances
  readonly uses: readonly CardUse[]
}

export const CALM: Disturbances = { duplicate: 0, lost_answer: 0, given_up: 0, late: 0, stand_in: 0 }

/** What `--seed` uses: enough of everything to see it in a hundred uses. */
const USUAL: Disturbances = { duplicate: 0.08, lost_answer: 0.05, given_up: 0.02, late: 0.1, stand_in: 0.05 }

const NAMES = Object.keys(PLAYS) as [PlayName, ...PlayName[]]

/** Returns a random use of one of `cards` cards. */
export const drawUse = (random: Random, cards: number): CardUse =>
  planUse(random.pick(NAMES), random.between(1, cards), {}, random)

/** Returns `count` random uses that follow from the seed. */
export function drawScenario(seed: number, count: number, cards: number): Scenario {
  const random = createRandom(`scenario ${seed}`)
  const uses = Array.from({ length: count }, () => drawUse(random, cards))
  return { seed, disturbances: USUAL, uses }
}
