/** What must be true of USDC payouts. */
import { getAddress, keccak256, stringToHex } from 'viem'
import type { Database } from '../../../runtime/database/database.ts'
import type { Merchant } from '../merchants.ts'
import type { Blocks } from './blocks.ts'
import { CHAIN_ID } from './node.ts'

/** Base units in a cent. */
const UNITS = 10_000n

/** The address that a merchant is paid at, and its CAIP-10 form. */
export const addressOf = (name: string) => getAddress(`0x${keccak256(stringToHex(name)).slice(-40)}`)
export const accountOf = (name: string): string => `eip155:${CHAIN_ID}:${addressOf(name)}`

interface Evidence {
  readonly db: Database
  readonly blocks: Blocks
  /** Milliseconds since the epoch. */
  readonly now: number
}

interface PayoutRow {
  readonly id: string
  readonly amount: number
  readonly status: string
  readonly created: number
}

/** A payout ends within this time. */
const ENDED_MS = 20 * 3_600_000

function fail(what: string): never {
  throw new Error(what)
}

/** Each payout is on the chain at most once, and exactly once if it is paid; the ledger says the same. */
export async function chainPaymentsAreRight(
  { db, blocks, now }: Evidence,
  { tenantId, name, transfers, payable, balances }: Merchant,
): Promise<void> {
  const text = 'SELECT id, amount, status, created FROM sandbox.payouts WHERE tenant_id = $1 ORDER BY id'
  const { rows } = await db.query<PayoutRow>({ text }, [tenantId])
  const known = new Map(rows.map((row) => [row.id, row]))
  for (const [id, amount] of transfers)
    if (known.get(id)?.amount !== amount) fail(`payout ${id} of ${name} is gone or has a different amount`)
  if (known.size !== transfers.size)
    fail(`${name} has ${known.size} USDC payouts, and was told of ${transfers.size}`)
  const address = addressOf(name)
  const paid = blocks.mined.filter(({ isPaid, authorization }) => isPaid && authorization?.to === address)
  let [left, explained] = [payable, 0]
  for (const { id, amount, status, created } of rows) {
    const nonce = keccak256(stringToHex(id))
    const own = paid.filter(({ authorization }) => authorization!.nonce === nonce)
    explained += own.length
    if (own.length > 1) fail(`USDC payout ${id} was paid ${own.length} times`)
    const value = own[0]?.authorization!.value
    if (value !== undefined && value !== BigInt(amount) * UNITS)
      fail(`${value} units were paid for USDC payout ${id} of ${amount} cents`)
    const isOpen = ['pending', 'in_transit'].includes(status)
    if (isOpen && now - created > ENDED_MS)
      fail(`USDC payout ${id} is still ${status}, and the chain has ${own.length} payments`)
    if (!isOpen && (status === 'paid') !== (own.length === 1))
      fail(`USDC payout ${id} is ${status}, and the chain has ${own.length} payments`)
    if (isOpen || status === 'paid') left -= amount
  }
  if (explained !== paid.length) fail(`${name} got ${paid.length - explained} USDC payments without a payout`)
  if (balances.sandbox.payable !== left)
    fail(`${name} has ${balances.sandbox.payable} payable in the sandbox, not ${left}`)
}

interface PaymentRow {
  readonly nonce: number
  readonly hash: string
}

/** Each nonce of the payer has one transaction, and settled payments are where the service saw them. */
export async function noncesAreUnique({ db, blocks }: Evidence): Promise<void> {
  blocks.mined.forEach(({ nonce, from }, index) => {
    if (nonce !== index) fail(`transaction ${index} of ${from} has the nonce ${nonce}`)
  })
  const text = `SELECT nonce, hash FROM control.chain_payments WHERE state = 'settled' ORDER BY nonce`
  const { rows } = await db.query<PaymentRow>({ text })
  for (const { nonce, hash } of rows) {
    const found = blocks.mined.find((each) => each.hash === hash)
    if (!found?.isPaid) fail(`payment ${nonce} is settled, and the chain does not have its transaction`)
  }
}
