/** Checks for rows that workers have set aside because their work failed. */
import type pg from 'pg'
import { type Finding, ok, warn } from './finding.ts'

interface SetAsideRows {
  readonly environment: string
  readonly work: string
  readonly rows: number
  readonly subject_id: string
  readonly reason: string
}

/** Reports each worker with such rows, and the row that failed last. Reports nothing before the table exists. */
export async function checkSetAside(client: pg.Client): Promise<Finding[]> {
  const { rows: found } = await client.query<{ made: boolean }>(
    `SELECT to_regclass('control.set_aside_work') IS NOT NULL AS made`,
  )
  if (!found[0]?.made) return []
  const { rows } = await client.query<SetAsideRows>(
    `SELECT DISTINCT ON (environment, work) environment, work, subject_id, reason,
            count(*) OVER (PARTITION BY environment, work)::integer AS rows
       FROM control.set_aside_work ORDER BY environment, work, failed_at DESC`,
  )
  if (rows.length === 0) return [ok('set aside', 'no rows are set aside')]
  return rows.map(({ environment, work, rows: count, subject_id, reason }) =>
    warn(
      `set aside, ${environment}`,
      `${work} fails for ${count} ${count === 1 ? 'row' : 'rows'}, last for ${subject_id}: ${reason}. ` +
        'List them with `admin set-aside list`; after the cause is fixed, run `admin set-aside retry`.',
    ),
  )
}
