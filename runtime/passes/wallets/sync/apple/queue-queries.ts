/** The queue of what is to be sent to wallets: found for all tenants, taken and settled for one. */
import { byPlace } from '../../../../database/by-place.ts'
import type { Statement } from '../../../../database/database.ts'
import { pipelined } from '../../../../database/pipelined.ts'
import { byIndex, useIndexes } from '../../../../database/pool/by-index.ts'
import type { Pool } from '../../../../database/pool/pool.ts'
import { toTimestamp } from '../../../../database/types.ts'

export type WalletPlatform = 'apple' | 'google'

// Two descents of an index for each tenant that has had passes in wallets, whatever is to be done for how many of them.
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

/** Tenants for whom there is something to do. @param now machine time. */
export async function findWork(
  pool: Pool,
  platform: WalletPlatform,
  now: number,
): Promise<readonly string[]> {
  const { rows } = await byIndex(pool).query<{ tenant_id: string }>(FIND, [platform, toTimestamp(now)])
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Something that is to be sent, under a lease. */
export interface Update {
  /** A device of Apple's; a pass or a template at Google's. */
  readonly target: string
  readonly generation: number
  /** Of the first change that was not sent; machine time. */
  readonly since: number
  /** Attempts that failed before. */
  readonly tries: number
}

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
   RETURNING u.target, u.generation, u.since, u.tries`,
)

export interface ClaimRequest {
  readonly space: string
  readonly platform: WalletPlatform
  /** Machine time, both. */
  readonly now: number
  readonly leaseUntil: number
  /** UUID, of this claim alone. */
  readonly token: string
  readonly limit: number
}

/** Takes what has waited longest; what was given back comes after what was never taken. */
export async function claimUpdates(pool: Pool, claim: ClaimRequest): Promise<readonly Update[]> {
  const { space, platform, now, leaseUntil, token, limit } = claim
  const values = [space, platform, toTimestamp(now), limit, toTimestamp(leaseUntil), token]
  return (await byIndex(pool).query<Update>(CLAIM, values)).rows
}

/** How an update ended. */
export interface UpdateEnd {
  readonly space: string
  readonly target: string
  readonly token: string
  readonly generation: number
  /** When it is to be tried again, machine time; undefined where it is done. */
  readonly readyAt: number | undefined
  /** Attempts that failed in a row. */
  readonly tries: number
}

/** Those given that are still under their leases, where they are. */
const held = (lock: string) => `
  (SELECT n.*, u.* FROM (SELECT * FROM json_to_recordset($3) AS n (target text, token uuid, sent integer, done boolean,
                                                                  again_at timestamptz, failed integer) ORDER BY target) AS n
    CROSS JOIN LATERAL (SELECT u.ctid AS place, u.generation FROM wallet_updates u
                         WHERE u.tenant_id = $1 AND u.target = n.target AND u.platform = $2 AND u.token = n.token
                         LIMIT 1${lock}) AS u) AS n`

// In the order in which changes are noted: two transactions that have several rows never wait for each other.
const HOLD: Statement = { name: 'wallet_updates_hold', text: `SELECT FROM ${held(' FOR UPDATE')}` }

const DONE = byPlace(
  'wallet_updates_done',
  `DELETE FROM wallet_updates u USING ${held('')}
    WHERE u.tenant_id = $1 AND u.ctid = n.place AND n.done AND n.generation = n.sent`,
)

const AGAIN = byPlace(
  'wallet_updates_again',
  `UPDATE wallet_updates u SET ready_at = n.again_at, tries = n.failed, token = NULL FROM ${held('')}
    WHERE u.tenant_id = $1 AND u.ctid = n.place`,
)

/** Writes how updates of one tenant ended. What changed while it was sent is ready again; what another has taken stays. */
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
  await pool.transaction(async (tx) => {
    useIndexes(tx)
    for (const statement of [HOLD, DONE, AGAIN]) pipelined(tx.query(statement, values))
  })
}
