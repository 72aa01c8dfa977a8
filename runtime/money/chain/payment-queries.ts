/** Statements on signed payments. They are in `control`, because they belong to an account and not to a tenant. */
import type { Database, Statement } from '../../database/database.ts'
import { messageOf } from '../../database/errors.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import { type ChainAccount, LostLease, lockAccount, setNonce } from './account-queries.ts'

export interface Payment {
  readonly chain_id: number
  readonly signer: string
  readonly nonce: number
  readonly environment: Environment
  readonly space: string
  readonly transfer_id: string
  readonly recipient: string
  /** USDC base units. The value can exceed the exact range of a number. */
  readonly value: bigint
  /** Seconds since the epoch. */
  readonly valid_before: number
  /** Signature of the transfer authorization. */
  readonly signature: string
  /** Number of the block after which its use is looked for. */
  readonly after_block: number
  readonly state: 'open' | 'settled' | 'failed' | 'displaced'
  readonly hash: string | null
  readonly block_hash: string | null
  readonly problem: string | null
  /** Whether the payment waits for an operator or for a different answer of the node. */
  readonly held_up: boolean
  /** An operator's decision. */
  readonly decision: 'retry' | 'paid' | 'failed' | null
}

/** A signed transaction. */
export interface SignedTransaction {
  readonly nonce: number
  readonly attempt: number
  readonly hash: string
  readonly raw: Buffer
  /** Wei per unit of gas. */
  readonly max_fee: bigint
  readonly priority_fee: bigint
  /** Machine time. */
  readonly signed_at: number
  readonly sent_at: number | null
}

const INSERT_PAYMENT: Statement = {
  text: `INSERT INTO control.chain_payments (chain_id, signer, nonce, environment, space, transfer_id, recipient, units,
           value, valid_before, signature, after_block)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8::numeric, CASE WHEN $8::numeric <= 9223372036854775807 THEN $8::bigint END,
           $9, $10, $11)`,
}
const INSERT_ATTEMPT: Statement = {
  text: `INSERT INTO control.chain_transactions (chain_id, signer, nonce, attempt, hash, raw, max_fee, priority_fee, signed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
}

function insertAttempt(
  db: Database,
  { chainId, address }: ChainAccount,
  attempt: Omit<SignedTransaction, 'sent_at'>,
) {
  const { nonce, attempt: number, hash, raw, max_fee, priority_fee, signed_at } = attempt
  const fees = [`${max_fee}`, `${priority_fee}`, toTimestamp(signed_at)]
  return db.query(INSERT_ATTEMPT, [chainId, address, nonce, number, hash, raw, ...fees])
}

export type NewPayment = Omit<
  Payment,
  'chain_id' | 'signer' | 'state' | 'hash' | 'block_hash' | 'problem' | 'held_up' | 'decision'
>

/** Constraint name: the nonce already has a payment. */
export const NONCE_TAKEN = 'chain_payments_pkey'

/**
 * Stores a signed payment before it is sent, and advances the account's nonce. Throws `LostLease` if another worker holds
 * the account or the nonce is used. Violates a unique index if the transfer is already signed, or if the nonce already has a
 * payment (`NONCE_TAKEN`).
 */
export async function storePayment(
  control: Pool,
  account: ChainAccount,
  token: string,
  payment: NewPayment,
  attempt: Omit<SignedTransaction, 'sent_at' | 'nonce' | 'attempt'>,
): Promise<void> {
  const { nonce } = payment
  await control.transaction(async (db) => {
    if ((await lockAccount(db, account, token)) !== nonce) throw new LostLease(`nonce ${nonce} is used`)
    await db.query(INSERT_PAYMENT, [
      account.chainId,
      account.address,
      nonce,
      payment.environment,
      payment.space,
      payment.transfer_id,
      payment.recipient,
      `${payment.value}`,
      payment.valid_before,
      payment.signature,
      payment.after_block,
    ])
    await insertAttempt(db, account, { ...attempt, nonce, attempt: 1 })
    await setNonce(db, account, nonce + 1)
  })
}

const ADOPT: Statement = {
  text: `INSERT INTO control.chain_payments (chain_id, signer, nonce, environment, space, transfer_id, recipient, units,
           value, valid_before, signature, after_block, hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8::numeric, CASE WHEN $8::numeric <= 9223372036854775807 THEN $8::bigint END,
           0, '', $9, $10)
         ON CONFLICT DO NOTHING`,
}

/**
 * Stores a payment that was found on the chain, with the transaction that made it. Workers then follow it like a payment that
 * they have signed. Returns false if the nonce or the transfer already has a payment.
 */
export async function adoptPayment(
  control: Database,
  { chainId, address }: ChainAccount,
  payment: Pick<
    NewPayment,
    'nonce' | 'environment' | 'space' | 'transfer_id' | 'recipient' | 'value' | 'after_block'
  > & {
    readonly hash: string
  },
): Promise<boolean> {
  const { nonce, environment, space, transfer_id, recipient, value, after_block, hash } = payment
  const values = [nonce, environment, space, transfer_id, recipient, `${value}`, after_block, hash]
  return (await control.query(ADOPT, [chainId, address, ...values])).count > 0
}

/** Stores a transaction that replaces an earlier one with the same nonce. Throws `LostLease`. */
export async function storeReplacement(
  control: Pool,
  account: ChainAccount,
  token: string,
  attempt: Omit<SignedTransaction, 'sent_at'>,
): Promise<void> {
  await control.transaction(async (db) => {
    await lockAccount(db, account, token)
    await insertAttempt(db, account, attempt)
  })
}

/** Numbers are read as text, so that an unreadable one is an error of its row and not of the statement. */
const COLUMNS = `p.chain_id::text, p.signer, p.nonce::text, p.environment, p.space, p.transfer_id, p.recipient,
                coalesce(p.units, p.value)::text AS value, p.valid_before::text, p.signature, p.after_block::text, p.state,
                p.hash, p.block_hash, p.problem, p.held_up_since IS NOT NULL AS held_up, p.decision`

const NUMBERS = ['chain_id', 'nonce', 'valid_before', 'after_block'] as const
type PaymentText = Omit<Payment, (typeof NUMBERS)[number] | 'value'> &
  Readonly<Record<(typeof NUMBERS)[number], string>> & { readonly value: string | null }

function readNumber(name: string, text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`${name} is beyond the range of exact numbers: ${text}`)
  return value
}

/** Converts a row. Throws if a value cannot be read. */
function readPayment(row: PaymentText): Payment {
  if (row.value === null) throw new Error(`payment of transfer ${row.transfer_id} has no amount`)
  const [chain_id, nonce, valid_before, after_block] = NUMBERS.map((name) => readNumber(name, row[name]))
  return {
    ...row,
    value: BigInt(row.value),
    chain_id: chain_id!,
    nonce: nonce!,
    valid_before: valid_before!,
    after_block: after_block!,
  }
}

const OPEN: Statement = {
  text: `SELECT ${COLUMNS} FROM control.chain_payments p
          WHERE p.chain_id = $1 AND p.signer = $2 AND p.state = 'open' AND p.held_up_since IS NULL ORDER BY p.nonce LIMIT $3`,
}
// In random order, so that no payment keeps the others from being checked.
const HELD_UP: Statement = {
  text: `SELECT ${COLUMNS} FROM control.chain_payments p
          WHERE p.chain_id = $1 AND p.signer = $2 AND p.state = 'open' AND p.held_up_since IS NOT NULL
          ORDER BY p.decision IS NULL, random() LIMIT $3`,
}
const ATTEMPTS: Statement = {
  text: `SELECT t.nonce, t.attempt, t.hash, t.raw, t.max_fee::text, t.priority_fee::text, t.signed_at, t.sent_at
           FROM control.chain_transactions t
          WHERE t.chain_id = $1 AND t.signer = $2 AND t.nonce = ANY ($3) ORDER BY t.nonce, t.attempt DESC`,
}

type AttemptText = Omit<SignedTransaction, 'max_fee' | 'priority_fee'> &
  Readonly<Record<'max_fee' | 'priority_fee', string>>

/** Returns the signed transactions of several nonces, newest first within a nonce. */
export async function readAttempts(
  control: Database,
  { chainId, address }: ChainAccount,
  nonces: readonly number[],
): Promise<readonly SignedTransaction[]> {
  const { rows } = await control.query<AttemptText>(ATTEMPTS, [chainId, address, nonces])
  return rows.map((row) => ({
    ...row,
    max_fee: BigInt(row.max_fee),
    priority_fee: BigInt(row.priority_fee),
  }))
}

export type OpenPayment = Payment & { readonly attempts: readonly SignedTransaction[] }

/** A payment whose row cannot be read. `nonce` is the stored text. */
export interface UnreadablePayment {
  readonly nonce: string
  readonly transfer_id: string
  readonly held_up: boolean
  readonly problem: string
}

export interface OpenPayments {
  /** Ordered by nonce; each with its signed transactions, newest first. */
  readonly payments: readonly OpenPayment[]
  readonly unreadable: readonly UnreadablePayment[]
}

/**
 * Returns the payments to follow.
 * @param which the payments that are held up, or the others.
 */
export async function readOpenPayments(
  control: Database,
  { chainId, address }: ChainAccount,
  limit: number,
  which: 'moving' | 'held up' = 'moving',
): Promise<OpenPayments> {
  const statement = which === 'moving' ? OPEN : HELD_UP
  const { rows } = await control.query<PaymentText>(statement, [chainId, address, limit])
  const read: Payment[] = []
  const unreadable: UnreadablePayment[] = []
  for (const row of rows) {
    try {
      read.push(readPayment(row))
    } catch (error) {
      const { nonce, transfer_id, held_up } = row
      unreadable.push({ nonce, transfer_id, held_up, problem: messageOf(error) })
    }
  }
  if (read.length === 0) return { payments: [], unreadable }
  const nonces = read.map(({ nonce }) => nonce)
  const of = Map.groupBy(await readAttempts(control, { chainId, address }, nonces), ({ nonce }) => nonce)
  return { payments: read.map((row) => ({ ...row, attempts: of.get(row.nonce) ?? [] })), unreadable }
}

const HOLD_UP: Statement = {
  text: `UPDATE control.chain_payments SET problem = $4, held_up_since = coalesce(held_up_since, $5),
                decision = nullif(decision, 'retry'),
                hash = CASE WHEN decision IN ('paid', 'failed') THEN hash ELSE coalesce($6, hash) END
          WHERE chain_id = $1 AND signer = $2 AND nonce = $3::bigint`,
}

/**
 * Holds up a payment: it is checked only occasionally and does not delay other payments.
 * @param now machine time.
 * @param hash transaction in which the node shows the payment, if it does.
 */
export async function holdUpPayment(
  control: Database,
  { chainId, address }: ChainAccount,
  nonce: number | string,
  problem: string,
  now: number,
  hash?: string,
): Promise<void> {
  await control.query(HOLD_UP, [chainId, address, `${nonce}`, problem, toTimestamp(now), hash ?? null])
}

const OPEN_ACCOUNTS: Statement = {
  text: `SELECT DISTINCT p.signer FROM control.chain_payments p WHERE p.chain_id = $1 AND p.state = 'open'`,
}

/** Returns the accounts of a chain that have payments to follow. After a key change, this includes the previous account. */
export async function findOpenAccounts(control: Database, chainId: number): Promise<readonly string[]> {
  return (await control.query<{ signer: string }>(OPEN_ACCOUNTS, [chainId])).rows.map(({ signer }) => signer)
}

const OF_TRANSFER: Statement = {
  text: `SELECT ${COLUMNS} FROM control.chain_payments p WHERE p.environment = $1 AND p.transfer_id = $2
          ORDER BY p.state = 'displaced', p.nonce DESC LIMIT 1`,
}

/** Returns the latest payment of a transfer, or undefined if none was signed. Throws if the row cannot be read. */
export async function findPayment(
  control: Database,
  environment: Environment,
  transferId: string,
): Promise<Payment | undefined> {
  const row = (await control.query<PaymentText>(OF_TRANSFER, [environment, transferId])).rows[0]
  return row && readPayment(row)
}

const IS_SIGNED: Statement = {
  text: 'SELECT 1 FROM control.chain_payments p WHERE p.environment = $1 AND p.transfer_id = $2 LIMIT 1',
}

/** Returns whether a payment was ever signed for a transfer. */
export async function isSigned(
  control: Database,
  environment: Environment,
  transferId: string,
): Promise<boolean> {
  return (await control.query(IS_SIGNED, [environment, transferId])).rows.length > 0
}

const NOTE: Statement = {
  text: `UPDATE control.chain_payments
            SET state = $4, hash = $5, block_hash = $6, problem = $7, held_up_since = NULL, decision = NULL
          WHERE chain_id = $1 AND signer = $2 AND nonce = $3
            AND (state, hash, block_hash, problem, held_up_since, decision) IS DISTINCT FROM ($4, $5, $6, $7, NULL, NULL)`,
}

/** Writes the current state of a payment and clears its hold-up. */
export async function notePayment(
  control: Database,
  { chainId, address }: ChainAccount,
  { nonce, state, hash, block_hash, problem }: Payment,
): Promise<void> {
  await control.query(NOTE, [chainId, address, nonce, state, hash, block_hash, problem])
}

const SENT: Statement = {
  text: `UPDATE control.chain_transactions SET sent_at = $5
          WHERE chain_id = $1 AND signer = $2 AND nonce = $3 AND attempt = $4`,
}

export async function noteSent(
  control: Database,
  { chainId, address }: ChainAccount,
  { nonce, attempt }: SignedTransaction,
  at: number,
): Promise<void> {
  await control.query(SENT, [chainId, address, nonce, attempt, toTimestamp(at)])
}

const REOPEN: Statement = {
  text: `UPDATE control.chain_payments p SET state = 'open', block_hash = NULL
          WHERE chain_id = $1 AND signer = $2 AND nonce >= $3 AND state IN ('settled', 'failed')
            AND (hash IS NULL OR EXISTS (SELECT FROM control.chain_transactions t
                                          WHERE t.chain_id = p.chain_id AND t.signer = p.signer AND t.nonce = p.nonce AND t.hash = p.hash))`,
}

/**
 * Follows ended payments again, from this nonce on, because a reorganization removed them from the chain. A count of the
 * account's transactions tells nothing of payments that a different transaction made. Returns how many.
 */
export async function reopenPayments(
  control: Database,
  { chainId, address }: ChainAccount,
  nonce: number,
): Promise<number> {
  return (await control.query(REOPEN, [chainId, address, nonce])).count
}
