/** The queue of what is to be sent to wallets: found for all tenants, taken and settled for one. */
import type { Statement } from '../../platform/database/database.ts'
import { byIndex, useIndexes } from '../../platform/database/pool/by-index.ts'
import type { Pool } from '../../platform/database/pool/pool.ts'
import { toTimestamp } from '../../platform/database/types.ts'

export type Platform = 'apple' | 'google'

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
export async function findWork(pool: Pool, platform: Platform, now: number): Promise<readonly string[]> {
  const { rows } = await byIndex(pool).query<{ tenant_id: string }>(FIND, [platform, toTimestamp(now)])
  return rows.map(({ tenant_id }) => tenant_id)
}

/** Something that is to be sent, under a lease. */
export interface Update {
  /** A device of Apple's; a pass or a template at Google's. */
  readonly target: string
  readonly generation: number
  /** Attempts that failed before. */
  readonly tries: number
}

const CLAIM: Statement = {
  name: 'wallet_updates_claim',
  text: `WITH picked AS MATERIALIZED (
           SELECT u.target FROM wallet_updates u
            WHERE u.tenant_id = $1 AND u.platform = $2 AND u.ready_at <= $3
            ORDER BY u.ready_at, u.target LIMIT $4 FOR UPDATE SKIP LOCKED
         )
         UPDATE wallet_updates u SET ready_at = $5, token = $6::uuid
           FROM picked
          WHERE u.tenant_id = $1 AND u.target = picked.target AND u.platform = $2
         RETURNING u.target, u.generation, u.tries`,
}

export interface ClaimRequest {
  readonly space: string
  readonly platform: Platform
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
export interface Settlement {
  readonly space: string
  readonly target: string
  readonly token: string
  readonly generation: number
  /** When it is to be tried again, machine time; undefined where it is done. */
  readonly readyAt: number | undefined
  /** Attempts that failed in a row. */
  readonly tries: number
}

const GIVEN = `json_to_recordset($3) AS n (target text, token uuid, generation integer, done boolean,
                                          ready_at timestamptz, tries integer)`

// In the order in which changes are noted: two transactions that have several rows never wait for each other.
const HOLD: Statement = {
  name: 'wallet_updates_hold',
  text: `SELECT FROM (SELECT n.target FROM ${GIVEN} ORDER BY n.target) AS n
          CROSS JOIN LATERAL (SELECT FROM wallet_updates u
                               WHERE u.tenant_id = $1 AND u.target = n.target AND u.platform = $2 FOR UPDATE) AS held`,
}

const DONE: Statement = {
  name: 'wallet_updates_done',
  text: `DELETE FROM wallet_updates u USING ${GIVEN}
          WHERE u.tenant_id = $1 AND u.platform = $2 AND u.target = n.target AND u.token = n.token
            AND n.done AND u.generation = n.generation`,
}

const AGAIN: Statement = {
  name: 'wallet_updates_again',
  text: `UPDATE wallet_updates u SET ready_at = n.ready_at, tries = n.tries, token = NULL FROM ${GIVEN}
          WHERE u.tenant_id = $1 AND u.platform = $2 AND u.target = n.target AND u.token = n.token`,
}

/** Writes how updates of one tenant ended. What changed while it was sent is ready again; what another has taken stays. */
export async function settleUpdates(
  pool: Pool,
  platform: Platform,
  settlements: readonly Settlement[],
): Promise<void> {
  const given = settlements.map(({ space: _, readyAt, ...each }) => ({
    ...each,
    done: readyAt === undefined,
    ready_at: readyAt === undefined ? '-infinity' : toTimestamp(readyAt),
  }))
  const values = [settlements[0]!.space, platform, JSON.stringify(given)]
  await pool.transaction(async (tx) => {
    useIndexes(tx)
    for (const statement of [HOLD, DONE, AGAIN]) tx.query(statement, values)
  })
}
