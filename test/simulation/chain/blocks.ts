/**
 * A chain with a USDC contract: blocks, transactions that wait, and reorganizations of the last blocks. Blocks are made when
 * somebody looks, as far as simulated time has come.
 */
import { type Hex, keccak256, stringToHex } from 'viem'
import type { Random } from '../../../runtime/platform/random.ts'
import type { Timers } from '../clockwork/timers.ts'
import type { Weather } from '../weather.ts'
import {
  DISPLACED_HOURS,
  fateOf,
  foreignHash,
  IGNORED_MS,
  isForeign,
  REPLACED_HOURS,
  STRANGER,
} from './fates.ts'
import { BASE_FEES, type Shortage, shortageAt } from './shortages.ts'

/** A transfer with authorization (EIP-3009), as a transaction contains it. */
export interface Authorization {
  readonly from: string
  readonly to: string
  readonly value: bigint
  /** Seconds since the epoch. */
  readonly validBefore: bigint
  readonly nonce: Hex
  /** Whether the account `from` signed it. */
  readonly isSigned: boolean
}

export interface SentTransaction {
  readonly hash: Hex
  readonly from: string
  readonly nonce: number
  readonly maxFee: bigint
  readonly priorityFee: bigint
  /** Undefined for a call that the contract rejects. */
  readonly authorization: Authorization | undefined
}

/** A transaction in a block. */
export interface MinedTransaction extends SentTransaction {
  readonly block: number
  /** Whether the contract made the transfer. */
  readonly isPaid: boolean
}

export interface Blocks {
  /** Makes the blocks that are due, and removes some of the last ones if the weather says so. Returns the number of the last. */
  advance(): number
  /** Accepts a transaction. Returns a refusal in words. */
  accept(transaction: SentTransaction): string | undefined
  hashOf(block: number): Hex
  /** Number of the last block at a time, in milliseconds since the epoch. */
  numberAt(at: number): number
  /** Seconds since the epoch. */
  timestampOf(block: number): number
  /** Wei per unit of gas. */
  baseFeeOf(block: number): bigint
  /** What the payer lacked when the service asked. */
  readonly shortages: Shortage[]
  /** Transactions that were accepted, each as often as it was sent. */
  readonly sent: readonly { readonly hash: Hex; readonly nonce: number; readonly at: number }[]
  /** Transactions in blocks, oldest first. */
  readonly mined: readonly MinedTransaction[]
  /** Notes that a node has shown a transaction in a block. */
  show(hash: string): void
  /** Payments of the account that nodes had shown in a block that was replaced. */
  readonly undone: readonly string[]
  /** Nonces of the account that pays, which another program used before the service. */
  readonly displaced: readonly number[]
}

/** Number of blocks after which a payment counts as paid. Reorganizations are less deep. */
export const CONFIRMATIONS = 4

const BLOCK_S = 12
const DAY_S = 86_400
const GWEI = 1_000_000_000n

/** More than any block asks for. */
const RICH_FEE = 1_000_000n * GWEI

/** Longest round of the service, without faults. */
const ROUND_MS = 3000

/** The node forgets every third transaction that it accepts, for this time after the first. */
const FORGETS_MS = 80_000

/** Blocks before the first one that can contain transactions. */
const OLD_BLOCKS = 1000

/** For half an hour in seven half hours, fees are so high that no transaction from before is included. */
const FEE_PERIOD = 150

/** @param payer the account that pays. */
export function createBlocks(
  timers: Pick<Timers, 'now'>,
  random: Random,
  weather: Weather,
  payer: string,
): Blocks {
  const start = timers.now - OLD_BLOCKS * BLOCK_S * 1000
  const headNow = () => Math.floor((timers.now - start) / (BLOCK_S * 1000))
  let made = headNow()
  /** Nobody pays before the first day. */
  const firstDay = made + (2 * DAY_S) / BLOCK_S
  const sent: { hash: Hex; nonce: number; at: number }[] = []
  let mined: MinedTransaction[] = []
  let waiting: SentTransaction[] = []
  /** When each transaction was shown first. */
  const shown = new Map<string, number>()
  const undone: string[] = []
  /** Whether the service has finished the round in which it saw the transaction. */
  const isNoted = (hash: string) => (shown.get(hash) ?? timers.now) < timers.now - ROUND_MS
  /** Whether a block has only payments. */
  const isOfService = (block: number) =>
    mined.every((each) => each.block !== block || each.authorization !== undefined)
  /** How many times a block was replaced. */
  const replaced = new Map<number, number>()
  const displaced: number[] = []
  /** Times since which something has happened, in seconds. */
  const done = new Set<number>()
  /** Without reorganizations by chance, some are planned, and lose nothing. */
  const isPlanned = !weather.includes('reorg')

  const timestampOf = (block: number) => Math.floor(start / 1000) + block * BLOCK_S
  const baseFeeOf = (block: number) =>
    BASE_FEES[shortageAt(timestampOf(block) * 1000) ?? 'gas'] ??
    (Math.floor(block / FEE_PERIOD) % 7 === 3 ? 90n : 10n) * GWEI
  const countOf = (account: string) => mined.filter(({ from }) => from === account).length
  const isUsed = (nonce: Hex) => mined.some((each) => each.isPaid && each.authorization?.nonce === nonce)

  const include = (transaction: SentTransaction, block: number) => {
    const { authorization, hash, from, nonce } = transaction
    const fate = from === payer ? fateOf(nonce) : undefined
    const isPaid =
      authorization?.isSigned === true &&
      authorization.validBefore > BigInt(timestampOf(block)) &&
      !isUsed(authorization.nonce) &&
      fate !== 'rejected'
    if (isPaid && fate === 'copied') {
      const copy = { hash: foreignHash(hash), from: STRANGER, nonce: countOf(STRANGER) }
      mined.push({ ...transaction, ...copy, block, isPaid })
    }
    mined.push({ ...transaction, block, isPaid: isPaid && !isUsed(authorization.nonce) })
    waiting = waiting.filter((each) => each.hash !== hash && (each.from !== from || each.nonce !== nonce))
  }
  /** Another program uses the next nonce of the account that pays. */
  const takeNonce = (block: number) => {
    const nonce = countOf(payer)
    if (sent.some((each) => each.nonce === nonce)) displaced.push(nonce)
    const fees = { maxFee: RICH_FEE, priorityFee: RICH_FEE }
    include({ hash: foreignHash(`${block}`), from: payer, nonce, ...fees, authorization: undefined }, block)
  }
  /** Whether this is called for the first time since one of the hours of a day. */
  const isFirstSince = (block: number, hours: readonly number[]) => {
    const at = timestampOf(block)
    const since = hours.map((hour) => at - (at % DAY_S) + hour * 3600).findLast((each) => each <= at)
    if (since === undefined || done.has(since)) return false
    done.add(since)
    return true
  }
  /** Whether a block has a transaction of another program. */
  const isTaken = (block: number) => {
    const at = timestampOf(block)
    if (isForeign(at, BLOCK_S)) return true
    if (!waiting.some(({ from, nonce }) => from === payer && nonce === countOf(payer))) return false
    return isFirstSince(block, DISPLACED_HOURS)
  }
  const isIgnored = ({ hash, from, nonce }: SentTransaction, block: number) => {
    const first = sent.find((each) => each.nonce === nonce)
    const isFirst = from === payer && fateOf(nonce) === 'ignored' && first?.hash === hash
    return isFirst && timestampOf(block) * 1000 < first.at + IGNORED_MS
  }
  /** Includes what can be paid for, in the order of nonces. */
  const make = (block: number) => {
    if (isTaken(block)) takeNonce(block)
    if (random.chance(0.2)) return
    const fee = baseFeeOf(block)
    for (;;) {
      const next = waiting.find(
        (each) => each.nonce === countOf(each.from) && each.maxFee >= fee && !isIgnored(each, block),
      )
      if (!next) return
      include(next, block)
    }
  }
  const catchUp = () => {
    const head = headNow()
    while (made < head) {
      made += 1
      if (waiting.length > 0) make(made)
      else if (made > firstDay && isForeign(timestampOf(made), BLOCK_S)) takeNonce(made)
    }
  }
  const reorganize = (last: number) => {
    const head = headNow()
    const gone = mined.filter(({ block }) => block > last)
    for (let block = last + 1; block <= head; block += 1) replaced.set(block, (replaced.get(block) ?? 0) + 1)
    mined = mined.filter(({ block }) => block <= last)
    const back = gone.filter(({ from, authorization }) => {
      if (from !== payer) return false
      return authorization === undefined || isPlanned || !random.chance(0.25)
    })
    for (const { from, nonce, hash, isPaid } of gone)
      if (from === payer && isPaid && fateOf(nonce) !== 'denied' && shown.delete(hash)) undone.push(hash)
    waiting = [...back.map(({ block: _, isPaid: __, ...sent }) => sent), ...waiting]
    made = last
    catchUp()
  }
  return {
    advance() {
      catchUp()
      const newest = mined.at(-1)
      const head = headNow()
      if (newest && newest.block > head - CONFIRMATIONS + 1) {
        if (weather.strikes('reorg')) reorganize(head - random.between(1, CONFIRMATIONS - 1))
        else if (
          isPlanned &&
          isOfService(newest.block) &&
          isNoted(newest.hash) &&
          isFirstSince(head, REPLACED_HOURS)
        )
          reorganize(newest.block - 1)
      }
      return headNow()
    },
    accept(transaction) {
      const { hash, from, nonce, maxFee, priorityFee } = transaction
      if (nonce < countOf(from)) return 'nonce too low'
      if (waiting.some((each) => each.hash === hash)) return 'already known'
      const other = waiting.find((each) => each.from === from && each.nonce === nonce)
      const isHigher = (fee: bigint, before: bigint) => fee * 10n >= before * 11n
      if (other && !(isHigher(maxFee, other.maxFee) && isHigher(priorityFee, other.priorityFee)))
        return 'replacement transaction underpriced'
      sent.push({ hash, nonce, at: timers.now })
      const first = sent.find((each) => each.nonce === nonce)!
      const isForgotten = nonce % 3 === 2 && timers.now < first.at + FORGETS_MS
      if (isForgotten || weather.strikes('dropped')) return undefined
      waiting = [...waiting.filter((each) => each !== other), transaction]
      return undefined
    },
    hashOf: (block) => keccak256(stringToHex(`block ${block} ${replaced.get(block) ?? 0}`)),
    sent,
    show: (hash) => void shown.set(hash, shown.get(hash) ?? timers.now),
    undone,
    displaced,
    shortages: [],
    numberAt: (at) => Math.floor((at - start) / (BLOCK_S * 1000)),
    timestampOf,
    baseFeeOf,
    get mined() {
      return mined
    },
  }
}
