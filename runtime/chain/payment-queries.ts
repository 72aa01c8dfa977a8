/** Statements on what was signed: in `control`, for an account and not for a tenant. */
import type { Database, Statement } from '../platform/database/database.ts'
import type { Pool } from '../platform/database/pool/pool.ts'
import { toTimestamp } from '../platform/database/types.ts'
import type { Environment } from '../platform/environment.ts'

/** An account on a chain. */
export interface Account {
  readonly chainId: number
  readonly address: string
}

/** The lease was lost, or another worker has signed meanwhile: what was signed for nothing is dropped. */
export class LostLease extends Error {
  override name = 'LostLease'
}

const OPEN_ACCOUNT: Statement = {
  text: `INSERT INTO control.chain_signers (chain_id, address, next_nonce) VALUES ($1, $2, 0)
         ON CONFLICT (chain_id, address) DO NOTHING`,
}
const ACQUIRE: Statement = {
  text: `UPDATE control.chain_signers SET token = $3, lease_until = $5
          WHERE chain_id = $1 AND address = $2 AND (token = $3 OR token IS NULL OR lease_until < $4)
         RETURNING next_nonce`,
}
const RELEASE: Statement = {
  text: `UPDATE control.chain_signers SET token = NULL, lease_until = '-infinity'
          WHERE chain_id = $1 AND address = $2 AND token = $3`,
}

/**
 * Takes the account, or goes on having it. Gives the nonce of its next transaction; undefined while another worker has it.
 *
 * @param now machine time of the database, in milliseconds, as is `until`.
 */
export async function acquireAccount(
  control: Database,
  { chainId, address }: Account,
  lease: { readonly token: string; readonly now: number; readonly until: number },
): Promise<number | undefined> {
  const times = [toTimestamp(lease.now), toTimestamp(lease.until)]
  const values = [chainId, address, lease.token, ...times]
  const acquire = async () =>
    (await control.query<{ next_nonce: number }>(ACQUIRE, values)).rows[0]?.next_nonce
  const known = await acquire()
  if (known !== undefined) return known
  if ((await control.query(OPEN_ACCOUNT, [chainId, address])).count === 0) return undefined
  return acquire()
}

export async function releaseAccount(control: Database, account: Account, token: string): Promise<void> {
  await control.query(RELEASE, [account.chainId, account.address, token])
}

const HELD: Statement = {
  text: `SELECT next_nonce FROM control.chain_signers
          WHERE chain_id = $1 AND address = $2 AND token = $3 FOR UPDATE`,
}
const ADVANCE: Statement = {
  text: 'UPDATE control.chain_signers SET next_nonce = $3 WHERE chain_id = $1 AND address = $2',
}

async function lockAccount(db: Database, { chainId, address }: Account, token: string): Promise<number> {
  const { rows } = await db.query<{ next_nonce: number }>(HELD, [chainId, address, token])
  if (!rows[0]) throw new LostLease('another worker sends for this account')
  return rows[0].next_nonce
}

/** The account's transactions go on from this nonce: others than we have used it. */
export async function skipNonces(
  control: Pool,
  account: Account,
  token: string,
  nonce: number,
): Promise<void> {
  await control.transaction(async (db) => {
    if ((await lockAccount(db, account, token)) < nonce) {
      await db.query(ADVANCE, [account.chainId, account.address, nonce])
    }
  })
}

export interface Payment {
  readonly chain_id: number
  /** Address of the account. */
  readonly signer: string
  readonly nonce: number
  readonly environment: Environment
  readonly space: string
  readonly transfer_id: string
  readonly recipient: string
  /** Base units. */
  readonly value: number
  /** Seconds since the epoch. */
  readonly valid_before: number
  /** Of the authorization. */
  readonly signature: string
  readonly after_block: number
  readonly state: 'open' | 'settled' | 'failed' | 'displaced'
  readonly hash: string | null
  readonly block_hash: string | null
  readonly problem: string | null
}

/** A signed transaction. */
export interface Attempt {
  readonly nonce: number
  readonly attempt: number
  readonly hash: string
  readonly raw: Buffer
  /** Wei for a unit of gas. */
  readonly max_fee: number
  readonly priority_fee: number
  /** Machine time. */
  readonly signed_at: number
  readonly sent_at: number | null
}

const INSERT_PAYMENT: Statement = {
  text: `INSERT INTO control.chain_payments (chain_id, signer, nonce, environment, space, transfer_id, recipient, value,
           valid_before, signature, after_block)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
}
const INSERT_ATTEMPT: Statement = {
  text: `INSERT INTO control.chain_transactions (chain_id, signer, nonce, attempt, hash, raw, max_fee, priority_fee, signed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
}

function insertAttempt(db: Database, { chainId, address }: Account, attempt: Omit<Attempt, 'sent_at'>) {
  const { nonce, attempt: number, hash, raw, max_fee, priority_fee, signed_at } = attempt
  const fees = [max_fee, priority_fee, toTimestamp(signed_at)]
  return db.query(INSERT_ATTEMPT, [chainId, address, nonce, number, hash, raw, ...fees])
}

/**
 * Stores what was signed, before it is sent, and with it uses the nonce up. Throws `LostLease` where the account is another
 * worker's by now or the nonce is used, and fails by its key where the transfer was signed already.
 */
export async function storePayment(
  control: Pool,
  account: Account,
  token: string,
  payment: Omit<Payment, 'chain_id' | 'signer' | 'state' | 'hash' | 'block_hash' | 'problem'>,
  attempt: Omit<Attempt, 'sent_at' | 'nonce' | 'attempt'>,
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
      payment.value,
      payment.valid_before,
      payment.signature,
      payment.after_block,
    ])
    await insertAttempt(db, account, { ...attempt, nonce, attempt: 1 })
    await db.query(ADVANCE, [account.chainId, account.address, nonce + 1])
  })
}

/** Stores a transaction that replaces one of the same nonce. Throws `LostLease`. */
export async function storeReplacement(
  control: Pool,
  account: Account,
  token: string,
  attempt: Omit<Attempt, 'sent_at'>,
): Promise<void> {
  await control.transaction(async (db) => {
    await lockAccount(db, account, token)
    await insertAttempt(db, account, attempt)
  })
}

const COLUMNS = `p.chain_id, p.signer, p.nonce, p.environment, p.space, p.transfer_id, p.recipient, p.value, p.valid_before, p.signature,
                p.after_block, p.state, p.hash, p.block_hash, p.problem`
const OPEN: Statement = {
  text: `SELECT ${COLUMNS} FROM control.chain_payments p
          WHERE p.chain_id = $1 AND p.signer = $2 AND p.state = 'open' ORDER BY p.nonce LIMIT $3`,
}
const ATTEMPTS: Statement = {
  text: `SELECT t.nonce, t.attempt, t.hash, t.raw, t.max_fee, t.priority_fee, t.signed_at, t.sent_at
           FROM control.chain_transactions t
          WHERE t.chain_id = $1 AND t.signer = $2 AND t.nonce = ANY ($3) ORDER BY t.nonce, t.attempt DESC`,
}

/** What was signed for nonces, the newest of each first. */
export async function readAttempts(
  control: Database,
  { chainId, address }: Account,
  nonces: readonly number[],
): Promise<readonly Attempt[]> {
  return (await control.query<Attempt>(ATTEMPTS, [chainId, address, nonces])).rows
}

export type OpenPayment = Payment & { readonly attempts: readonly Attempt[] }

/** Those that are followed, by nonce, each with what was signed for it, the newest first. */
export async function readOpenPayments(
  control: Database,
  { chainId, address }: Account,
  limit: number,
): Promise<readonly OpenPayment[]> {
  const { rows } = await control.query<Payment>(OPEN, [chainId, address, limit])
  if (rows.length === 0) return []
  const signed = await readAttempts(
    control,
    { chainId, address },
    rows.map(({ nonce }) => nonce),
  )
  const of = Map.groupBy(signed, ({ nonce }) => nonce)
  return rows.map((payment) => ({ ...payment, attempts: of.get(payment.nonce) ?? [] }))
}

const OPEN_ACCOUNTS: Statement = {
  text: `SELECT DISTINCT p.signer FROM control.chain_payments p WHERE p.chain_id = $1 AND p.state = 'open'`,
}

/** Accounts of a chain with payments that are followed; after a change of the key also the one before. */
export async function findOpenAccounts(control: Database, chainId: number): Promise<readonly string[]> {
  return (await control.query<{ signer: string }>(OPEN_ACCOUNTS, [chainId])).rows.map(({ signer }) => signer)
}

const OF_TRANSFER: Statement = {
  text: `SELECT ${COLUMNS} FROM control.chain_payments p WHERE p.environment = $1 AND p.transfer_id = $2
          ORDER BY p.state = 'displaced', p.nonce DESC LIMIT 1`,
}

/** What was signed for a transfer last; undefined while nothing was. */
export async function findPayment(
  control: Database,
  environment: Environment,
  transferId: string,
): Promise<Payment | undefined> {
  return (await control.query<Payment>(OF_TRANSFER, [environment, transferId])).rows[0]
}

const NOTE: Statement = {
  text: `UPDATE control.chain_payments SET state = $4, hash = $5, block_hash = $6, problem = $7
          WHERE chain_id = $1 AND signer = $2 AND nonce = $3
            AND (state, hash, block_hash, problem) IS DISTINCT FROM ($4, $5, $6, $7)`,
}

/** Writes down where a payment stands. */
export async function notePayment(
  control: Database,
  { chainId, address }: Account,
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
  { chainId, address }: Account,
  { nonce, attempt }: Attempt,
  at: number,
): Promise<void> {
  await control.query(SENT, [chainId, address, nonce, attempt, toTimestamp(at)])
}

const REOPEN: Statement = {
  text: `UPDATE control.chain_payments SET state = 'open', block_hash = NULL
          WHERE chain_id = $1 AND signer = $2 AND nonce >= $3 AND state IN ('settled', 'failed')`,
}

/** Follows what was done with again, from this nonce on: the chain has forgotten it. Gives how many. */
export async function reopenPayments(
  control: Database,
  { chainId, address }: Account,
  nonce: number,
): Promise<number> {
  return (await control.query(REOPEN, [chainId, address, nonce])).count
}
