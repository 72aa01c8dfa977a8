/** The kept pass counts of a space beside the passes themselves, in one snapshot. */
import type { Pool } from '../../runtime/database/pool/pool.ts'
import { readPassCounts } from '../../runtime/passes/passes/pass-counts.ts'

const SNAPSHOT = { text: 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ' }

const PASSES = {
  text: `SELECT CASE WHEN p.archived_at IS NULL THEN '' ELSE 'archived_' END || p.status AS state, count(*) AS count
           FROM passes p WHERE p.tenant_id = $1 GROUP BY 1`,
}

type Counts = Readonly<Record<string, number>>

/** `kept` is undefined if the passes are not counted yet. Writers may be running. */
export function bothCounts(pool: Pool, space: string): Promise<{ kept?: Counts; counted: Counts }> {
  return pool.transaction(async (tx) => {
    await tx.query(SNAPSHOT)
    const kept = await readPassCounts(tx, space, {})
    const { rows } = await tx.query<{ state: string; count: number }>(PASSES, [space])
    const states = (counts: Iterable<readonly [string, number]>) =>
      Object.fromEntries(
        [...counts].filter(([state, count]) => count !== 0 && /^(archived_)?[a-z]{6,}$/.test(state)),
      )
    const isState = ([state]: readonly [string, number]) => state !== 'unadded'
    return {
      ...(kept && { kept: states([...kept].filter(isState)) }),
      counted: states(rows.map(({ state, count }) => [state, count] as const)),
    }
  })
}
