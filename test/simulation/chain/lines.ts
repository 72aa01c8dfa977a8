/** What the log tells an operator of USDC payouts: which lines there may be, and how many. */
import type { Evidence } from '../checks/evidence.ts'
import { fail, mustEqual } from '../checks/must.ts'
import { CONFIRMATIONS } from './blocks.ts'
import { HELD, holdsOf } from './decisions.ts'
import { fateOf } from './fates.ts'
import { CHAIN_ID, PAYER } from './node.ts'
import { DEAR, MOST_FEE, shortageAt, WAITS } from './shortages.ts'

const PREFIX = 'A payout is held up: '

const DOUBT = `${PREFIX}the receipt shows the payment, but the contract reports its authorization as unused`
const DENIED = `${PREFIX}the receipt of 0x… says that the contract rejected the transfer, but a log says that the authorization was used`
const MOVED = `${PREFIX}the address is on chain 1; expected chain ${CHAIN_ID}`
const MISSPELT = `${PREFIX}the address is not valid`
const SWITCHED = `${PREFIX}node.invalid is chain 1; expected chain ${CHAIN_ID}`
const DISPLACED = 'A different transaction used the nonce of a payout; the payout is signed again.'
const ADJUSTED = 'A different program has sent transactions of the payout account; its nonce is adjusted.'
const UNCONFIRMED =
  /^the node counts \d+ transactions of the account, \d+ of them confirmed, but the database has \d+: payouts wait until the other transactions are confirmed$/

const KNOWN: readonly (string | RegExp)[] = [
  ...[DOUBT, DENIED, MOVED, MISSPELT, SWITCHED, DISPLACED, ADJUSTED, UNCONFIRMED, HELD],
  ...Object.values(WAITS),
]

const isAny = (text: string, all: readonly (string | RegExp)[]) =>
  all.some((each) => (typeof each === 'string' ? each === text : each.test(text)))

/** Whether a line tells what happens to payouts on any day: a shortage, a strange transaction or a strange address. */
export const isOfPayouts = (text: string): boolean =>
  isAny(text, KNOWN) || BigInt(DEAR.exec(text)?.[1] ?? 0) > MOST_FEE

/** What lost, late and contradictory answers of the node explain. */
const REASONS = [
  'node\\.invalid (did not respond within \\d+ ms|returned \\d+ for eth_\\w+, without a valid JSON-RPC response)',
  'block \\d+ contains the account’s transaction \\d+, but the node counts only \\d+ transactions',
  'the authorization is used, but no log shows by which transaction',
  'the authorization is used by 0x…, but (the node shows no receipt of it|its receipt says that the contract rejected the transfer)',
  'the receipt of 0x… says that the contract rejected the transfer, but a log says that the authorization was used',
  'the node cannot estimate the gas: \\w[\\w ]+',
].join('|')

const WEATHER = new RegExp(
  `^((A payout is held up|USDC payouts wait|A payout cannot be followed|A payout could not be sent): (${REASONS})|A payout cannot be followed: header not found)$`,
)

/** Lines of the worker that sends USDC payouts. */
const OF_WORKER =
  /^(A payout is held up|USDC payouts wait|A payout cannot be followed|Payouts could not be sent|A different transaction)/

/** In a storm, each line has a reason that the weather explains. On a calm day, each happening has its lines. */
export async function payoutLinesAreRight(evidence: Evidence): Promise<void> {
  const { logs, faults } = evidence
  if (faults === 0) return calmLinesAreRight(evidence)
  const strange = logs.find(({ text }) => OF_WORKER.test(text) && !isOfPayouts(text) && !WEATHER.test(text))
  if (strange) fail(`the log says: ${strange.text}`)
}

const DAY_MS = 86_400_000

function calmLinesAreRight({ logs, blocks, now, started }: Evidence): void {
  const timesOf = (text: string | RegExp) =>
    logs.filter((line) => isAny(line.text, [text])).map(({ at }) => at)
  const countOf = (text: string | RegExp) => timesOf(text).length
  mustEqual(
    countOf(DISPLACED),
    blocks.displaced.length,
    'how often the log tells of a nonce that others used',
  )
  const deep = blocks.numberAt(now) - CONFIRMATIONS
  const fates = blocks.mined
    .filter(({ isPaid, from, block }) => isPaid && from === PAYER && block < deep)
    .map(({ nonce }) => fateOf(nonce))
  const disputed = fates.filter((fate) => fate === 'disputed').length
  const doubted = fates.filter((fate) => fate === 'doubted').length
  const found = countOf(DOUBT)
  if (found < disputed || found > disputed + doubted)
    fail(`the log tells of ${found} contradictions, and the node doubted ${doubted} and disputed ${disputed}`)
  const held = logs.filter(({ text }) => text === DOUBT || text === SWITCHED)
  for (const [payout, own] of Map.groupBy(held, (line) => line.payout))
    for (const [index, { text }] of own.entries())
      if (text === own[index - 1]?.text) fail(`the log tells twice of payout ${payout}: ${text}`)
  const denied = fates.filter((fate) => fate === 'denied').length
  mustEqual(
    countOf(DENIED),
    denied,
    'how often the log tells of a receipt that a log of the contract contradicts',
  )
  for (let midnight = started; midnight < now - DAY_MS / 2; midnight += DAY_MS)
    for (const [from, until] of holdsOf(midnight)) {
      const within = timesOf(HELD).filter((at) => at >= from && at <= until)
      if (within.length > 1) fail(`the log tells ${within.length} times that payouts wait`)
    }
}

/** Longest time that a request which began before a hold still takes. */
const SLOW_MS = 60_000

/** Longest time from the moment in which the chain is checked until a transaction is sent. */
const SWITCHED_MS = 10_000

/** Nothing is paid on another chain, and while payouts wait for an operator. */
export function nothingIsSentWhileHeld({ payments, blocks, started, now, faults }: Evidence): void {
  if (faults > 0) return
  const odd = blocks.sent.find(
    ({ at }) => shortageAt(at - SWITCHED_MS) === 'switched' && shortageAt(at) === 'switched',
  )
  if (odd) fail(`transaction ${odd.nonce} was sent to another chain`)
  const times = [...payments.flatMap(({ requests }) => requests), ...blocks.sent].map(({ at }) => at)
  for (let midnight = started; midnight < now - DAY_MS / 2; midnight += DAY_MS)
    for (const [from, until] of holdsOf(midnight)) {
      const strange = times.find((at) => at > from + SLOW_MS && at < until)
      if (strange !== undefined) fail(`something was paid at ${strange}, while payouts wait`)
    }
}
