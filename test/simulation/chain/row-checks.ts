/** What the service stores about USDC payments, compared with the chain and with the payouts. */
import { keccak256, parseTransaction, stringToHex } from 'viem'
import { type Evidence, read, rowsOf, sandboxEventsOf } from '../checks/evidence.ts'
import { fail, mustEqual } from '../checks/must.ts'
import type { Merchant } from '../merchant.ts'
import { CONFIRMATIONS } from './blocks.ts'
import { fateOf, isContradicted, STRANGER } from './fates.ts'
import { CHAIN_ID, PAYER, USDC } from './node.ts'
import { isGivenUp, isShortBetween, MOST_FEE } from './shortages.ts'

const CHAIN = `eip155:${CHAIN_ID}`

interface TransferRow {
  readonly id: string
  readonly recipient: string
  readonly amount: number
  readonly state: string
  readonly hash: string | null
  readonly confirmations: number
  readonly failure_code: string | null
  readonly due: number | null
  readonly held_up_since: number | null
  readonly problem: string | null
  readonly created: number
}

interface PayoutRow {
  readonly id: string
  readonly status: string
  readonly amount: number
  readonly chain_id: string | null
  readonly transaction_hash: string | null
  readonly confirmations: number
  readonly failure_code: string | null
  readonly arrival_date: string | null
  readonly address: string
  readonly created: number
  readonly updated: number
}

/** The states that a transfer can have, by the status of its payout. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  pending: ['queued', 'signing'],
  in_transit: ['in_transit'],
  paid: ['paid'],
  failed: ['failed'],
  canceled: ['withdrawn'],
}

/** Each payout has a transfer that tells the same, and its events tell how it was confirmed. */
export async function chainTransfersAreRight(evidence: Evidence, merchant: Merchant): Promise<void> {
  const transfers = await rowsOf<TransferRow>(evidence, 'sandbox', merchant, 'chain_transfers')
  const payouts = await read<PayoutRow>(
    evidence.db,
    `SELECT p.*, d.address FROM sandbox.payouts p
       JOIN sandbox.payout_destinations d ON d.tenant_id = p.tenant_id AND d.id = p.destination_id
      WHERE p.tenant_id = $1 ORDER BY p.id`,
    merchant.tenantId,
  )
  mustEqual(
    transfers.map(({ id }) => id),
    payouts.map(({ id }) => id),
    `the transfers of ${merchant.name}`,
  )
  for (const [index, payout] of payouts.entries()) {
    const { id, status, amount, address, chain_id, transaction_hash, confirmations, failure_code } = payout
    const transfer = transfers[index]!
    const { state } = transfer
    if (!STATES[status]?.includes(state)) fail(`payout ${id} is ${status}, and its transfer is ${state}`)
    mustEqual(
      [transfer.amount, transfer.recipient, transfer.hash, transfer.confirmations],
      [amount, address, transaction_hash, confirmations],
      `the transfer of payout ${id}`,
    )
    mustEqual(chain_id, transaction_hash && CHAIN, `the chain of payout ${id}`)
    const isWaiting = state === 'queued' || state === 'signing'
    if (isWaiting !== (transfer.due !== null)) fail(`transfer ${id} is ${state}, and due at ${transfer.due}`)
    if (!isWaiting)
      mustEqual([transfer.held_up_since, transfer.problem], [null, null], `the problem of transfer ${id}`)
    if (status === 'paid' && confirmations < CONFIRMATIONS)
      fail(`payout ${id} is paid after ${confirmations} confirmations`)
    const nonce = keccak256(stringToHex(id))
    const own = evidence.blocks.mined.filter(({ authorization }) => authorization?.nonce === nonce)
    const isReverted = own.length > 0 && own.every(({ isPaid }) => !isPaid)
    const isPaused = own.length === 0 && isGivenUp(payout.created, payout.updated)
    const usual = isReverted || isPaused ? 'transaction_failed' : 'rejected'
    // Of a wallet that cannot be paid anyway, either can come first.
    const isEither = isPaused && merchant.rejected.has(id) && failure_code === 'rejected'
    const isKnown = merchant.isExact && !isEither
    const wanted = status !== 'failed' ? null : isKnown ? usual : failure_code
    mustEqual([failure_code, transfer.failure_code], [wanted, wanted], `why payout ${id} failed`)
    if (merchant.isExact && status === 'failed' && !merchant.rejected.has(id) && !isReverted && !isPaused)
      fail(`payout ${id} failed`)
  }
  await payoutsAreTold(evidence, merchant)
}

const PATH = /^created( (canceled|failed)| updated( updated)*( paid| failed)?)?$/

interface ToldPayout {
  readonly id: string
  readonly status: string
  readonly chain: {
    readonly id: string
    readonly transaction_hash: string
    readonly confirmations: number
  } | null
  readonly arrival_date: string | null
  readonly created: string
  readonly updated: string
}

const dayOf = (at: string) => at.slice(0, 10)

/** Reads what events tell of payouts in the sandbox. */
async function toldPayouts(evidence: Evidence, merchant: Merchant) {
  const events = await sandboxEventsOf(evidence, merchant)
  return events
    .filter(({ type }) => type.startsWith('payout.'))
    .map(({ type, body, created }) => ({
      kind: type.slice(7),
      created,
      payout: JSON.parse(body).data.payout as ToldPayout,
    }))
}

async function payoutsAreTold(evidence: Evidence, merchant: Merchant): Promise<void> {
  const told = await toldPayouts(evidence, merchant)
  for (const [id, own] of Map.groupBy(told, ({ payout }) => payout.id)) {
    const path = own.map(({ kind }) => kind).join(' ')
    if (!PATH.test(path)) fail(`payout ${id} has the events ${path}`)
    const shown = merchant.money?.sandbox.payouts.find((each) => each.id === id)
    mustEqual(own.at(-1)!.payout, shown, `what the last event tells of payout ${id}`)
    for (const [index, { kind, payout, created }] of own.entries()) {
      const { status, chain, arrival_date, updated } = payout
      const isGone = status === 'canceled' || status === 'failed'
      const day = isGone ? null : dayOf(index === 0 ? payout.created : updated)
      mustEqual(arrival_date, day, `the arrival of payout ${id}, ${status}`)
      if (Math.abs(Date.parse(updated) - created) > 120_000) fail(`payout ${id} was ${status} at ${updated}`)
      if (kind === 'paid' && chain!.confirmations < CONFIRMATIONS)
        fail(`payout ${id} was paid after ${chain!.confirmations} confirmations`)
      if (kind === 'updated' && chain!.confirmations >= CONFIRMATIONS)
        fail(`payout ${id} was not paid after ${chain!.confirmations} confirmations`)
      if (evidence.faults > 0 || !chain || chain.confirmations === 0) continue
      const mined = evidence.blocks.mined.find(({ hash }) => hash === chain.transaction_hash)!
      if (kind === 'paid' && mined.from === PAYER && isContradicted(mined.nonce)) {
        mustEqual(chain.confirmations, CONFIRMATIONS, `the confirmations of payout ${id}, which was decided`)
        continue
      }
      const deep = evidence.blocks.numberAt(created) - mined.block + 1
      // The head is read before the payment is looked at.
      if (chain.confirmations > deep || chain.confirmations < deep - 2)
        fail(`payout ${id} had ${deep} confirmations, and was told of ${chain.confirmations}`)
    }
  }
}

interface PaymentRow {
  readonly signer: string
  readonly nonce: number
  readonly environment: string
  readonly space: string
  readonly transfer_id: string
  readonly recipient: string
  readonly units: string
  readonly valid_before: number
  readonly after_block: number
  readonly state: string
  readonly hash: string | null
  readonly block_hash: string | null
  readonly problem: string | null
  readonly held_up_since: number | null
  readonly decision: string | null
}

interface AttemptRow {
  readonly nonce: number
  readonly attempt: number
  readonly hash: string
  readonly raw: Buffer
  readonly max_fee: string
  readonly priority_fee: string
  readonly signed_at: number
  readonly sent_at: number | null
}

const HOUR_S = 3600

/** States of the last payment of a transfer that ended after it was signed. */
const ENDS: Readonly<Record<string, string>> = { paid: 'settled', failed: 'failed' }

const isEnded = ({ state }: TransferRow) => state in ENDS

/** Each payment is of one payout, was signed with usual fees, and is in the block where the service saw it. */
export async function chainPaymentsAreStored(evidence: Evidence, merchant: Merchant): Promise<void> {
  const { db, blocks, faults } = evidence
  const payments = await read<PaymentRow>(
    db,
    'SELECT *, units::text AS units FROM control.chain_payments WHERE space = $1 ORDER BY nonce',
    merchant.tenantId,
  )
  const attempts = await read<AttemptRow>(
    db,
    `SELECT *, max_fee::text AS max_fee, priority_fee::text AS priority_fee FROM control.chain_transactions
      WHERE chain_id = ${CHAIN_ID} ORDER BY nonce, attempt`,
  )
  const transfers = await rowsOf<TransferRow>(evidence, 'sandbox', merchant, 'chain_transfers')
  const signed = transfers.filter(({ hash }) => hash !== null).map(({ id }) => id)
  const told = faults === 0 ? await toldPayouts(evidence, merchant) : []
  const timesUnconfirmed = (hash: string) =>
    told.filter(({ payout: { chain } }) => chain?.transaction_hash === hash && chain.confirmations === 0)
      .length
  const found = new Set(payments.map(({ transfer_id }) => transfer_id))
  mustEqual([...found].toSorted(), signed, `the payments of ${merchant.name}`)
  for (const payment of payments) {
    const { nonce, transfer_id: id, state, hash, block_hash } = payment
    const transfer = transfers.find((each) => each.id === id)!
    const same = payments.filter(({ transfer_id }) => transfer_id === id)
    mustEqual(
      [payment.signer, payment.environment, payment.recipient, payment.units, payment.decision],
      [PAYER, 'sandbox', transfer.recipient.split(':').at(-1), `${transfer.amount * 10_000}`, null],
      `the payment of payout ${id}`,
    )
    const isNewest = payment === same.at(-1)
    // A payment that an operator has decided keeps the reason why, and what the service had seen of it.
    const isDecided = isContradicted(nonce) && state === 'settled'
    const own = attempts.filter((each) => each.nonce === nonce)
    if (isEnded(transfer)) {
      const wanted = isNewest ? ENDS[transfer.state] : 'displaced'
      mustEqual(
        [state, payment.held_up_since],
        [wanted, null],
        `the payment ${nonce} of payout ${id}, which is ${transfer.state}`,
      )
      if (faults === 0 && payment.problem !== null && !isDecided)
        fail(`payout ${id} has the problem ${payment.problem}`)
    }
    if (faults > 0) continue
    mustEqual(!isNewest, blocks.displaced.includes(nonce), `whether payment ${nonce} of ${id} was displaced`)
    const mined = blocks.mined.find((each) => each.hash === hash)
    if (hash !== null && !isDecided)
      mustEqual(block_hash, mined && blocks.hashOf(mined.block), `the block of payout ${id}`)
    if (state === 'settled') {
      const isCopied = fateOf(nonce) === 'copied'
      mustEqual(
        [mined?.from === STRANGER, isCopied || mined?.nonce === nonce, mined?.isPaid],
        [isCopied, true, true],
        `the transaction of payout ${id}`,
      )
    }
    for (const [index, { hash }] of own.entries()) {
      const wanted = (index === 0 ? 1 : 0) + blocks.undone.filter((each) => each === hash).length
      if (timesUnconfirmed(hash) < wanted)
        fail(
          `events tell ${timesUnconfirmed(hash)} times that payout ${id} is unconfirmed, not ${wanted} times`,
        )
    }
    signaturesAreRight(id, payment, own, evidence)
    if (fateOf(nonce) === 'ignored' && own.length === 1 && mined?.hash === own[0]!.hash && canOutbid(own[0]!))
      fail(`nothing more was offered for payout ${id}, which no block included`)
    // A payment that is signed again is looked for from the block before the first one.
    if (payment !== same[0]) mustEqual(payment.after_block, same[0]!.after_block, `where ${id} is looked for`)
    else wasSignedAfter(payment, own[0]!.signed_at, evidence)
  }
  if (faults === 0) signedInTurn(transfers, payments, attempts)
  await accountIsReady(evidence)
  if (faults === 0) nothingIsSentTooOften(evidence)
}

/** Fees are twice the base fee and a priority fee, the authorization lasts an hour, and each attempt outbids the last one. */
function signaturesAreRight(
  id: string,
  { nonce, valid_before }: PaymentRow,
  own: readonly AttemptRow[],
  { blocks }: Evidence,
): void {
  for (const [index, { attempt, hash, raw, max_fee, priority_fee, signed_at, sent_at }] of own.entries()) {
    const block = blocks.numberAt(signed_at)
    const near = [0, 1, 2].map((back) => block - back)
    mustEqual([attempt, keccak256(raw)], [index + 1, hash], `attempt ${attempt} for payout ${id}`)
    const sent = parseTransaction(`0x${raw.toString('hex')}` as `0x02${string}`)
    mustEqual(
      [
        sent.nonce ?? 0,
        sent.chainId,
        sent.to?.toLowerCase(),
        `${sent.maxFeePerGas}`,
        `${sent.maxPriorityFeePerGas}`,
      ],
      [nonce, CHAIN_ID, USDC.toLowerCase(), max_fee, priority_fee],
      `the transaction for payout ${id}`,
    )
    mustEqual(`${sent.gas}`, `${(60_000 * 5) / 4 + 60_000}`, `the gas for payout ${id}`)
    if (BigInt(max_fee) > MOST_FEE) fail(`the fee for payout ${id} was ${max_fee}`)
    if (sent_at === null || sent_at < signed_at)
      fail(`attempt ${attempt} for payout ${id} was sent at ${sent_at}`)
    const before = own[index - 1]
    if (before) {
      const raised = (fee: string) => BigInt(fee) + BigInt(fee) / 8n + 1n
      if (BigInt(max_fee) < raised(before.max_fee) || BigInt(priority_fee) < raised(before.priority_fee))
        fail(`attempt ${attempt} for payout ${id} offers ${max_fee} after ${before.max_fee}`)
      if (signed_at < before.signed_at + 60_000)
        fail(`attempt ${attempt} for payout ${id} was signed too early`)
      continue
    }
    if (!near.some((each) => BigInt(max_fee) === 2n * blocks.baseFeeOf(each) + BigInt(priority_fee)))
      fail(`the fee for payout ${id} was ${max_fee}`)
    if (priority_fee !== '1500000000') fail(`the priority fee for payout ${id} was ${priority_fee}`)
    if (!near.some((each) => valid_before === blocks.timestampOf(each) + HOUR_S))
      fail(`the payment of payout ${id} is valid until ${valid_before}`)
  }
}

/** Whether a higher fee is below the limit. */
const canOutbid = ({ max_fee }: AttemptRow) => BigInt(max_fee) + BigInt(max_fee) / 8n + 1n <= MOST_FEE

/** Payouts that nothing held up are signed in the order in which they were ordered. */
function signedInTurn(
  transfers: readonly TransferRow[],
  payments: readonly PaymentRow[],
  attempts: readonly AttemptRow[],
): void {
  const times = payments.map(({ nonce, transfer_id: id }) => ({
    ...{ id, ordered: transfers.find((each) => each.id === id)!.created },
    signed: attempts.find((each) => each.nonce === nonce)!.signed_at,
  }))
  const free = times.filter(
    ({ id, ordered, signed }, index) =>
      !isShortBetween(ordered, signed) && times.findIndex((each) => each.id === id) === index,
  )
  for (const [index, { id, ordered }] of free.entries())
    if (index > 0 && ordered < free[index - 1]!.ordered)
      fail(`payout ${free[index - 1]!.id} was signed before payout ${id}, which was ordered earlier`)
}

function wasSignedAfter(
  { transfer_id: id, after_block }: PaymentRow,
  signedAt: number,
  { blocks }: Evidence,
): void {
  const block = Math.max(0, blocks.numberAt(signedAt) - CONFIRMATIONS)
  if (after_block > block || after_block < block - 2)
    fail(`payout ${id} was signed after block ${after_block}, not ${block}`)
}

/** Transactions of one nonce are sent again after 15 seconds at the earliest. */
function nothingIsSentTooOften({ blocks }: Evidence): void {
  for (const [nonce, own] of Map.groupBy(blocks.sent, (each) => each.nonce))
    for (const [index, { at }] of own.entries())
      if (index > 0 && at < own[index - 1]!.at + 15_000)
        fail(`transaction ${nonce} was sent again after ${at - own[index - 1]!.at} ms`)
}

/** The account's next nonce follows the last payment, and nothing keeps it from paying. */
async function accountIsReady({ db, blocks, faults }: Evidence): Promise<void> {
  const [account, other] = await read<{
    address: string
    next_nonce: number
    problem: string | null
    held_up_since: number | null
  }>(db, 'SELECT address, next_nonce, problem, held_up_since FROM control.chain_signers')
  if (!account) return
  if (other) fail(`there are two accounts that pay: ${account.address} and ${other.address}`)
  mustEqual(
    [account.address, account.problem, account.held_up_since],
    [PAYER, null, null],
    'the account that pays',
  )
  const [last] = await read<{ nonce: number | null }>(
    db,
    `SELECT max(nonce) AS nonce FROM control.chain_payments WHERE chain_id = ${CHAIN_ID}`,
  )
  if (faults > 0) return
  const least = (last!.nonce ?? -1) + 1
  const used = blocks.mined.filter(({ from }) => from === PAYER).length
  // Another program can have used the account since the last payment.
  if (account.next_nonce < least || account.next_nonce > Math.max(least, used))
    fail(`the next nonce is ${account.next_nonce}, after ${least} and ${used} transactions`)
}
