/** Reads scenario files (docs/network-simulator.md). */

import { createRandom } from '../../platform/random.ts'
import { type CardUse, PLAYS, planUse } from './plays.ts'
import { CALM, type Disturbances, type Scenario } from './scenario.ts'

/** What is wrong with a scenario file: one line for each problem, with its place and what was expected. */
export class ScenarioError extends Error {}

type Members = Readonly<Record<string, unknown>>

/** Checks a value and returns what was expected, or undefined if the value is good. */
type Expectation = (value: unknown) => string | undefined

const expect =
  (expected: string, isGood: (value: unknown) => boolean): Expectation =>
  (value) =>
    isGood(value) ? undefined : expected

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const MAX_AMOUNT = 1_000_000_000_000_000
const MAX_USES = 100_000
/** The first card of a list is 1. */
const MAX_CARD = 100_000

const whole = (least: number, most: number) =>
  expect(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  )
const oneOf = (...values: readonly string[]) =>
  expect(`one of ${values.join(', ')}`, (value) => typeof value === 'string' && values.includes(value))
const text = (pattern: RegExp, expected: string) =>
  expect(expected, (value) => typeof value === 'string' && pattern.test(value))
const listOf =
  (item: Expectation): Expectation =>
  (value) => {
    const expected = item(undefined) ?? 'values'
    if (!Array.isArray(value) || value.length > 100) return `a list of at most 100, each ${expected}`
    return value.some((each) => item(each) !== undefined)
      ? `a list of at most 100, each ${expected}`
      : undefined
  }

const amount = whole(1, MAX_AMOUNT)
const yesOrNo = expect('true or false', (value) => typeof value === 'boolean')
const share = expect('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1)

const MERCHANT: Readonly<Record<string, Expectation>> = {
  name: text(/^.{1,100}$/u, 'a text of 1 to 100 characters'),
  category_code: text(/^[0-9]{4}$/, 'four digits (ISO 18245)'),
  network_id: text(/^.{1,64}$/u, 'a text of 1 to 64 characters'),
  city: text(/^.{0,100}$/u, 'a text of at most 100 characters'),
  country: text(/^[A-Z]{2}$/, 'two capital letters (ISO 3166-1)'),
}

const USE: Readonly<Record<keyof CardUse, Expectation>> = {
  play: oneOf(...Object.keys(PLAYS)),
  card: whole(1, MAX_CARD),
  amount: whole(0, MAX_AMOUNT),
  merchant: expect('an object', isObject),
  entry_method: oneOf('chip', 'contactless', 'swipe', 'keyed_in', 'online'),
  wallet: oneOf('apple_pay', 'google_pay'),
  partial_approval: yesOrNo,
  completion: amount,
  increments: listOf(amount),
  reversals: listOf(amount),
  clearings: listOf(amount),
  refunds: listOf(amount),
  chargeback: listOf(oneOf('under_review', 'won', 'lost')),
  token: listOf(oneOf('requested', 'active', 'suspended', 'deleted')),
  forced: yesOrNo,
  stand_in: yesOrNo,
}

const DISTURBANCES: Readonly<Record<keyof Disturbances, Expectation>> = {
  duplicate: share,
  lost_answer: share,
  given_up: share,
  late: share,
  stand_in: share,
}

const FILE: Readonly<Record<keyof Scenario, Expectation>> = {
  seed: whole(0, Number.MAX_SAFE_INTEGER),
  disturbances: expect('an object', isObject),
  uses: expect(
    `a list of 1 to ${MAX_USES} uses`,
    (value) => Array.isArray(value) && value.length > 0 && value.length <= MAX_USES,
  ),
}

/** Finds the problems of an object: members that are unknown, missing or wrong. */
function findProblems(
  place: string,
  value: unknown,
  members: Readonly<Record<string, Expectation>>,
  required: readonly string[] = [],
): string[] {
  if (!isObject(value)) return [`${place}: expected an object`]
  const within = place === '' ? '' : `${place}.`
  const missing = required.filter((name) => value[name] === undefined)
  return [
    ...missing.map((name) => `${within}${name}: is missing: expected ${members[name]?.(undefined)}`),
    ...Object.entries(value).flatMap(([name, given]) => {
      const check = Object.hasOwn(members, name) ? members[name] : undefined
      if (!check) return [`${within}${name}: is unknown: expected one of ${Object.keys(members).join(', ')}`]
      const expected = check(given)
      const shown = JSON.stringify(given)?.slice(0, 80)
      return expected === undefined ? [] : [`${within}${name}: is ${shown}: expected ${expected}`]
    }),
  ]
}

function problemsOf(file: unknown): string[] {
  const problems = findProblems('', file, FILE, ['uses'])
  if (!isObject(file)) return ['the file: expected an object with "uses"']
  if (file.disturbances !== undefined && isObject(file.disturbances))
    problems.push(...findProblems('disturbances', file.disturbances, DISTURBANCES))
  const uses: readonly unknown[] = Array.isArray(file.uses) ? file.uses : []
  for (const [index, use] of uses.entries()) {
    const place = `uses[${index}]`
    problems.push(...findProblems(place, use, USE, ['play']))
    if (isObject(use) && isObject(use.merchant))
      problems.push(...findProblems(`${place}.merchant`, use.merchant, MERCHANT, ['name', 'category_code']))
  }
  return problems
}

/**
 * Reads a scenario file. Members that a use leaves out are what is usual for its play.
 * @param name of the file, for errors.
 * @throws ScenarioError with the first 20 problems.
 */
export function readScenario(content: string, name: string): Scenario {
  const file = parse(content, name)
  const problems = problemsOf(file)
  if (problems.length > 0) {
    const more = problems.length > 20 ? [`and ${problems.length - 20} more`] : []
    throw new ScenarioError([...problems.slice(0, 20), ...more].map((each) => `${name}: ${each}`).join('\n'))
  }
  // The checks above make this what the type says.
  const { seed = 1, disturbances, uses } = file as Partial<Scenario> & Pick<Scenario, 'uses'>
  const random = createRandom(`scenario file ${seed}`)
  return {
    seed,
    disturbances: { ...CALM, ...disturbances },
    uses: uses.map((use) => planUse(use.play, use.card ?? 1, use, random)),
  }
}

function parse(content: string, name: string): unknown {
  try {
    return JSON.parse(content)
  } catch (error) {
    throw new ScenarioError(`${name}: is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
