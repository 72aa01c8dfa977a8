/** What must be true of USDC payouts. */
import { keccak256, stringToHex } from 'viem'
import type { Database } from '../../../runtime/database/database.ts'
import type { Merchant } from '../merchant.ts'
import type { Blocks } from './blocks.ts'
import { STRANGER } from './fates.ts'
import { CHAIN_ID } from './node.ts'

/** Base units in a cent. */
const UNITS = 10_000n

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
  readonly settlement_id: string | null
  /** CAIP-10. */
  readonly address: string
}

interface SettlementRow {
  readonly id: string
  readonly net_amount: number
  readonly payout_id: string | null
}

/** A payout ends within this time. */
const ENDED_MS = 20 * 3_600_000

function fail(what: string): never {
  throw new Error(what)
}

/** Each payout is on the chain at most once, and exactly once if it is paid; the ledger says the same. */
export async function chainPaymentsAreRight(
  { db, blocks, now }: Evidence,
  { tenantId, name, transfers, payable, balances, addresses, rejected }: Merchant,
): Promise<void> {
  const text =
    'SELECT p.id, p.amount, p.status, p.created, p.settlement_id, d.address FROM sandbox.payouts p JOIN sandbox.payout_destinations d ON d.tenant_id = p.tenant_id AND d.id = p.destination_id WHERE p.tenant_id = $1 ORDER BY p.id'
  const { rows } = await db.query<PayoutRow>({ text }, [tenantId])
  const settlements = await db.query<SettlementRow>(
    {
      text: `SELECT id, net_amount, payout_id FROM sandbox.settlements
              WHERE tenant_id = $1 AND status = 'settled' AND net_amount > 0`,
    },
    [tenantId],
  )
  const known = new Map(rows.map((row) => [row.id, row]))
  for (const [id, amount] of transfers)
    if (known.get(id)?.amount !== amount) fail(`payout ${id} of ${name} is gone or has a different amount`)
  const ordered = rows.filter(({ settlement_id }) => settlement_id === null)
  if (ordered.length !== transfers.size)
    fail(`${name} has ${ordered.length} USDC payouts, and was told of ${transfers.size}`)
  const ofSettlements = rows.length - ordered.length
  const settled = settlements.rows.filter(({ payout_id }) => payout_id !== null)
  if (
    ofSettlements !== settled.length ||
    settled.some(({ payout_id, id, net_amount }) => {
      const payout = known.get(payout_id!)
      return payout?.settlement_id !== id || payout.amount !== net_amount
    })
  )
    fail(`${name} has ${ofSettlements} payouts of settlements; ${settled.length} settlements name one`)
  const paid = blocks.mined.filter(
    ({ isPaid, authorization }) => isPaid && authorization !== undefined && addresses.has(authorization.to),
  )
  let left = settlements.rows.reduce((sum, { net_amount }) => sum + net_amount, payable)
  let explained = 0
  for (const { id, amount, status, created, address } of rows) {
    const nonce = keccak256(stringToHex(id))
    const own = paid.filter(({ authorization }) => authorization!.nonce === nonce)
    explained += own.length
    if (own.length > 1) fail(`USDC payout ${id} was paid ${own.length} times`)
    const value = own[0]?.authorization?.value
    if (value !== undefined && value !== BigInt(amount) * UNITS)
      fail(`${value} units were paid for USDC payout ${id} of ${amount} cents`)
    const to = own[0]?.authorization?.to
    if (to !== undefined && address.split(':').at(-1) !== to) fail(`USDC payout ${id} was paid to ${to}`)
    if (rejected.has(id) && own.length > 0)
      fail(`USDC payout ${id} was paid to a destination that is not payable`)
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
  const own = blocks.mined.filter(({ from }) => from !== STRANGER)
  own.forEach(({ nonce, from }, index) => {
    if (nonce !== index) fail(`transaction ${index} of ${from} has the nonce ${nonce}`)
  })
  const text = `SELECT nonce, hash FROM control.chain_payments WHERE state = 'settled' AND chain_id = ${CHAIN_ID} ORDER BY nonce`
  const { rows } = await db.query<PaymentRow>({ text })
  for (const { nonce, hash } of rows) {
    const found = blocks.mined.find((each) => each.hash === hash)
    if (!found?.isPaid) fail(`payment ${nonce} is settled, and the chain does not have its transaction`)
  }
}
