/** The queue of wallet updates. One query finds work for all tenants; claims and results concern one tenant. */
import { byPlace } from '../../../../database/by-place.ts'
import type { Statement } from '../../../../database/database.ts'
import { pipelined } from '../../../../database/pipelined.ts'
import { byIndex, useIndexes } from '../../../../database/pool/by-index.ts'
import type { Pool } from '../../../../database/pool/pool.ts'
import { toTimestamp } from '../../../../database/types.ts'
import type { QueuedPush } from '../../../passes/registration-queries.ts'

export type WalletPlatform = 'apple' | 'google'

// Costs two index descents for each tenant that has had passes in wallets, regardless of the amount of work.
const FIND: Statement = {
  name: 'wallet_work_find',
  text: `SELECT h.tenant_id
           FROM wallet_heads h
           LEFT JOIN LATERAL (SELECT true AS found FROM wallet_changes c
                               WHERE c.tenant_id = h.tenant_id AND c.platform = $1
                               ORDER BY c.platform, c.subject_type, c.steps LIMIT 1) AS changes ON true
           LEFT JOIN LATERAL (SELECT true AS found FROM wallet_updates u
                               WHERE u.tenant_id = h.tenant_id AND u.platform = $1 AND u.ready_at <= $2
                               ORDER BY u.ready_at LIMIT 1) AS updates ON true
          WHERE (changes.found OR updates.found)
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = h.tenant_id)`,
}

/** Returns the tenants that have pending work. @param now machine time. */
export async function findWork(
  pool: Pool,
  platform: WalletPlatform,
  now: number,
): Promise<readonly string[]> {
  const { rows } = await byIndex(pool).query<{ tenant_id: string }>(FIND, [platform, toTimestamp(now)])
  return rows.map(({ tenant_id }) => tenant_id)
}

/** An update to send, under a lease. Its target is an Apple device ID. */
export type Update = Omit<QueuedPush, 'token'>

const CLAIM = byPlace(
  'wallet_updates_claim',
  `WITH picked AS MATERIALIZED (
     SELECT u.ctid AS place FROM wallet_updates u
      WHERE u.tenant_id = $1 AND u.platform = $2 AND u.ready_at <= $3
      ORDER BY u.ready_at, u.target LIMIT $4 FOR UPDATE SKIP LOCKED
   )
   UPDATE wallet_updates u SET ready_at = $5, token = $6::uuid
     FROM picked
    WHERE u.tenant_id = $1 AND u.ctid = picked.place
   RETURNING u.target, u.generation, u.since, u.tries, u.trace`,
)

export interface ClaimRequest {
  readonly space: string
  readonly platform: WalletPlatform
  /** Machine time, as is `leaseUntil`. */
  readonly now: number
  readonly leaseUntil: number
  /** UUID, unique to this claim. */
  readonly token: string
  readonly limit: number
}

/** Claims the updates that have waited longest. Retries come after updates that were never claimed. */
export async function claimUpdates(pool: Pool, claim: ClaimRequest): Promise<readonly Update[]> {
  const { space, platform, now, leaseUntil, token, limit } = claim
  const values = [space, platform, toTimestamp(now), limit, toTimestamp(leaseUntil), token]
  return (await byIndex(pool).query<Update>(CLAIM, values)).rows
}

export interface UpdateEnd {
  readonly space: string
  readonly target: string
  readonly token: string
  readonly generation: number
  /** Time of the next attempt, in machine time; undefined if the update is done. */
  readonly readyAt: number | undefined
  /** Number of consecutive failed attempts. */
  readonly tries: number
}

/**
 * Selects the given updates that are still under their leases. The order and the range make the primary key the only
 * index that fits. With an equality, PostgreSQL 18 may skip through `wallet_updates_ready`, which reads 240 pages a row.
 *
 * @param lock an optional locking clause.
 */
const held = (lock: string) => `
  (SELECT n.*, u.* FROM (SELECT * FROM json_to_recordset($3) AS n (target text, token uuid, sent integer, done boolean,
                                                                  again_at timestamptz, failed integer) ORDER BY target) AS n
    CROSS JOIN LATERAL (SELECT u.ctid AS place, u.generation FROM wallet_updates u
                         WHERE u.tenant_id = $1 AND u.target BETWEEN n.target AND n.target AND u.platform = $2
                           AND u.token = n.token
                         ORDER BY u.target LIMIT 1${lock}) AS u) AS n`

// Locks the rows in the order in which changes write them, so that two transactions cannot deadlock.
const HOLD: Statement = { name: 'wallet_updates_hold', text: `SELECT FROM ${held(' FOR UPDATE')}` }

// The last two conditions hold for the row as it is once a concurrent writer has finished; `n` shows it as it was.
const DONE = byPlace(
  'wallet_updates_done',
  `DELETE FROM wallet_updates u USING ${held('')}
    WHERE u.tenant_id = $1 AND u.ctid = n.place AND n.done AND n.generation = n.sent
      AND u.generation = n.sent AND u.token = n.token`,
)

const AGAIN = byPlace(
  'wallet_updates_again',
  `UPDATE wallet_updates u SET ready_at = n.again_at, tries = n.failed, token = NULL FROM ${held('')}
    WHERE u.tenant_id = $1 AND u.ctid = n.place`,
)

/**
 * Writes the results of updates of one tenant. Most updates are done, and one statement deletes them. An update that changed during the attempt becomes ready again; an update
 * that another worker has claimed is left unchanged.
 */
export async function settleUpdates(
  pool: Pool,
  platform: WalletPlatform,
  settlements: readonly UpdateEnd[],
): Promise<void> {
  const given = settlements.map(({ target, token, generation, readyAt, tries }) => ({
    target,
    token,
    sent: generation,
    done: readyAt === undefined,
    again_at: readyAt === undefined ? '-infinity' : toTimestamp(readyAt),
    failed: tries,
  }))
  const values = [settlements[0]!.space, platform, JSON.stringify(given)]
  const { count } = await byIndex(pool).query(DONE, values)
  if (count === settlements.length) return
  await pool.transaction(async (tx) => {
    useIndexes(tx)
    for (const statement of [HOLD, AGAIN]) pipelined(tx.query(statement, values))
  })
}
