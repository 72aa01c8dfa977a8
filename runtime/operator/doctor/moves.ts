/** Checks for tenants that a move or an export has closed, and has not opened again. */
import type pg from 'pg'
import { type Finding, ok, warn } from './finding.ts'

interface ClosedTenant {
  readonly tenant_id: string
  readonly state: 'fenced' | 'arriving'
  readonly since: string
}

const MEANINGS: Readonly<Record<ClosedTenant['state'], (since: string) => string>> = {
  fenced: (since) =>
    `has been closed for writes since ${since}. If its move or export is not running, run the same command again, or \`admin tenant move\` with --abort.`,
  arriving: (since) =>
    `has had all its rows here since ${since}, and is not open. If its move is not running, run the same command again where it was run.`,
}

/** Reports each such tenant, at the source and at the target. Reports nothing before the table exists. */
export async function checkMoves(client: pg.Client): Promise<Finding[]> {
  const { rows: found } = await client.query<{ made: boolean }>(
    `SELECT to_regclass('control.tenant_moves') IS NOT NULL AS made`,
  )
  if (!found[0]?.made) return []
  const { rows } = await client.query<ClosedTenant>(
    `SELECT tenant_id, state, to_char(updated AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
       FROM control.tenant_moves WHERE state = 'fenced' OR (state = 'arriving' AND left_by IS NOT NULL)
      ORDER BY updated`,
  )
  if (rows.length === 0) return [ok('moves', 'no tenant is closed by a move')]
  return rows.map(({ tenant_id, state, since }) => warn('moves', `${tenant_id} ${MEANINGS[state](since)}`))
}
