/** Statements on the accounts that send payments. They are in `control`, because no tenant owns them. */
import type { Database, Statement } from '../../database/database.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { toTimestamp } from '../../database/types.ts'
import { createLeases, type Lease } from '../../work/leases.ts'

export interface ChainAccount {
  readonly chainId: number
  readonly address: string
}

/** The lease was lost, or another worker has signed in the meantime. The caller discards what it has signed. */
export class LostLease extends Error {
  override name = 'LostLease'
}

/** A worker holds the lease of an account while it has payments to follow or to send. */
const LEASES = createLeases<{ readonly next_nonce: number }>({
  name: 'chain_signers',
  table: 'control.chain_signers',
  key: ['chain_id', 'address'],
  token: 'token',
  until: 'lease_until',
  returning: 'next_nonce',
  open: {
    text: `INSERT INTO control.chain_signers (chain_id, address, next_nonce) VALUES ($1, $2, 0)
           ON CONFLICT (chain_id, address) DO NOTHING`,
  },
})

/**
 * Acquires the lease of an account. Returns the nonce of its next transaction, or undefined while another worker holds the
 * lease.
 */
export async function acquireAccount(
  control: Database,
  { chainId, address }: ChainAccount,
  lease: Lease,
): Promise<number | undefined> {
  return (await LEASES.acquire(control, [chainId, address], lease))?.next_nonce
}

/**
 * Renews the lease of an account. Returns false if another worker has held it since: what this worker has read may no longer
 * be true.
 */
export function renewAccount(
  control: Database,
  { chainId, address }: ChainAccount,
  lease: Lease,
): Promise<boolean> {
  return LEASES.renew(control, [chainId, address], lease)
}

export function releaseAccount(
  control: Database,
  { chainId, address }: ChainAccount,
  token: string,
): Promise<void> {
  return LEASES.release(control, [chainId, address], token)
}

const HELD: Statement = {
  text: `SELECT next_nonce FROM control.chain_signers
          WHERE chain_id = $1 AND address = $2 AND token = $3 FOR UPDATE`,
}
const ADVANCE: Statement = {
  text: 'UPDATE control.chain_signers SET next_nonce = $3 WHERE chain_id = $1 AND address = $2',
}

/** Locks an account whose lease this worker holds, and returns its next nonce. Throws `LostLease`. */
export async function lockAccount(
  db: Database,
  { chainId, address }: ChainAccount,
  token: string,
): Promise<number> {
  const { rows } = await db.query<{ next_nonce: number }>(HELD, [chainId, address, token])
  if (!rows[0])
    throw new LostLease(
      `The lease of account ${address} on chain ${chainId} is lost: another worker holds it.`,
    )
  return rows[0].next_nonce
}

/** Sets the next nonce of an account that the caller has locked. */
export async function setNonce(
  db: Database,
  { chainId, address }: ChainAccount,
  nonce: number,
): Promise<void> {
  await db.query(ADVANCE, [chainId, address, nonce])
}

/**
 * Sets the nonce of the account's next transaction: higher if another program has sent transactions, lower if a
 * reorganization removed them. Does nothing if the current nonce is not `from`. Throws `LostLease`.
 */
export async function moveNonce(
  control: Pool,
  account: ChainAccount,
  token: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  await control.transaction(async (db) => {
    if ((await lockAccount(db, account, token)) === from) await setNonce(db, account, to)
  })
}

const ACCOUNT_PROBLEM: Statement = {
  text: `UPDATE control.chain_signers
            SET problem = $3, held_up_since = CASE WHEN $3::text IS NOT NULL THEN coalesce(held_up_since, $4) END
          WHERE chain_id = $1 AND address = $2 AND problem IS DISTINCT FROM $3`,
}

/**
 * Records why an account signs no new payments, or null if it does. Returns whether the problem changed.
 * @param now machine time.
 */
export async function noteAccount(
  control: Database,
  { chainId, address }: ChainAccount,
  problem: string | null,
  now: number,
): Promise<boolean> {
  return (await control.query(ACCOUNT_PROBLEM, [chainId, address, problem, toTimestamp(now)])).count > 0
}

const COUNT_FROM: Statement = {
  text: `SELECT count(*)::integer AS count, bool_or(nonce = $3) AS taken FROM control.chain_payments
          WHERE chain_id = $1 AND signer = $2 AND nonce >= $3`,
}

/** Counts the payments with this nonce or a later one, in any state, and returns whether one has exactly this nonce. */
export async function countPaymentsFrom(
  control: Database,
  { chainId, address }: ChainAccount,
  nonce: number,
): Promise<{ readonly count: number; readonly taken: boolean }> {
  const { rows } = await control.query<{ count: number; taken: boolean | null }>(COUNT_FROM, [
    chainId,
    address,
    nonce,
  ])
  return { count: rows[0]!.count, taken: rows[0]!.taken === true }
}
