/** Operations on rows that workers have set aside. */
import type { Statement } from '../database/database.ts'
import { toTimestamp } from '../database/types.ts'
import type { Environment } from '../platform/environment.ts'
import { ControlError, isoTime, type Operator } from '../tenants/admin/change.ts'
import type { SetAsideRow } from '../work/set-aside-queries.ts'

/** Selects rows; an empty filter selects all. */
export interface SetAsideFilter {
  readonly environment?: Environment | undefined
  readonly work?: string | undefined
  /** ID of the resource, or the space of the tenant. */
  readonly id?: string | undefined
}

type Times = 'since' | 'failed_at' | 'retry_at'

/** A row that was set aside, with times in ISO 8601. */
type ShownRow = Omit<SetAsideRow, Times> & Readonly<Record<Times, string>>

/** Maximum number of listed rows. */
const MAX_LISTED = 1000

const SELECTED = `($1::text IS NULL OR environment = $1) AND ($2::text IS NULL OR work = $2)
                  AND ($3::text IS NULL OR subject_id = $3)`

const LIST: Statement = {
  text: `SELECT environment, work, tenant_id, subject_id, reason, tries, since, failed_at, retry_at
           FROM control.set_aside_work WHERE ${SELECTED} ORDER BY failed_at DESC LIMIT $4`,
}

const valuesOf = ({ environment, work, id }: SetAsideFilter) => [
  environment ?? null,
  work ?? null,
  id ?? null,
]

/** Returns the rows that were set aside, latest failure first, at most 1,000. */
export async function listSetAside(
  operator: Operator,
  filter: SetAsideFilter,
): Promise<{ readonly set_aside: readonly ShownRow[] }> {
  const { rows } = await operator.control.query<SetAsideRow>(LIST, [...valuesOf(filter), MAX_LISTED])
  return {
    set_aside: rows.map((row) => ({
      ...row,
      since: isoTime(row.since),
      failed_at: isoTime(row.failed_at),
      retry_at: isoTime(row.retry_at),
    })),
  }
}

const RETRY: Statement = {
  text: `UPDATE control.set_aside_work SET retry_at = $4 WHERE ${SELECTED} RETURNING environment, work, tenant_id, subject_id`,
}

// Failed push updates also have a retry time in their own queue.
const RETRY_PUSH = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.wallet_updates SET ready_at = '-infinity'
          WHERE tenant_id = $1 AND target = $2 AND platform = 'apple' AND token IS NULL`,
})

// The Google worker follows events and has already passed those of this row, so all passes of its template are sent
// again.
const RETRY_GOOGLE = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.google_cursors c
            SET walks = (c.walks::jsonb || jsonb_build_array(jsonb_build_object('template', t.id, 'class', true)))::json
           FROM (SELECT p.template_id AS id FROM ${environment}.passes p WHERE p.tenant_id = $1 AND p.id = $2
                 UNION SELECT $2 WHERE $2 LIKE 'tpl_%') AS t
          WHERE c.tenant_id = $1`,
})

const RETRIES: Readonly<Record<string, (environment: Environment) => Statement>> = {
  apple_pushes: RETRY_PUSH,
  google_wallet: RETRY_GOOGLE,
}

/** Lets workers retry rows immediately instead of after their pause. Throws `not_found` if no row matches. */
export async function retrySetAside(operator: Operator, filter: SetAsideFilter): Promise<object> {
  const now = toTimestamp(operator.clock.machine())
  return operator.control.transaction(async (tx) => {
    const { rows } = await tx.query<SetAsideRow>(RETRY, [...valuesOf(filter), now])
    if (rows.length === 0) throw new ControlError('not_found', 'no set-aside row matches the filter')
    for (const { environment, work, tenant_id, subject_id } of rows) {
      const retry = RETRIES[work]
      if (retry) await tx.query(retry(environment), [tenant_id, subject_id])
    }
    return { retried: rows.length }
  })
}
