/** How many passes of a template have which status. */
import type { Database, Statement } from '../../../database/database.ts'
import { readPassCounts } from '../../../passes/passes/pass-counts.ts'
import { PASS_STATUSES, type PassStatus } from '../../../passes/passes/status.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { LinkTo } from '../../engine/shapes.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { figures } from '../../html/records.ts'

/** Limits the rows that are counted for each status until a worker keeps the counts of the tenant, so that the page is fast with any number of passes. */
const MAX_COUNTED = 10_000

// The bounds and the order are those of one index, so the plan does not depend on statistics: for a status without passes, a scan
// of the table would find nothing to stop at.
const COUNT: Statement = {
  name: 'dashboard_passes_of_template',
  text: `SELECT s.status, c.n FROM unnest($3::text[]) AS s (status)
          CROSS JOIN LATERAL (SELECT count(*)::integer AS n FROM (
            SELECT FROM passes p WHERE p.tenant_id = $1 AND p.archived_at IS NULL
               AND (p.template_id, p.status, p.created, p.id) >= ($2, s.status, '-infinity'::timestamptz, '')
               AND (p.template_id, p.status, p.created, p.id) < ($2, s.status, 'infinity'::timestamptz, '')
             ORDER BY p.template_id, p.status, p.created, p.id LIMIT $4) AS p) AS c`,
}

/** Counts passes that are not archived, up to `most` for each status. Expiries count once they are recorded. */
export async function countByStatus(
  db: Database,
  space: string,
  templateId: string,
  most: number,
): Promise<ReadonlyMap<PassStatus, number>> {
  const values = [space, templateId, PASS_STATUSES, most]
  const { rows } = await db.query<{ status: PassStatus; n: number }>(COUNT, values)
  return new Map(rows.map(({ status, n }) => [status, n]))
}

/** Statuses that a merchant tells apart. */
const GROUPS: readonly (readonly [name: string, statuses: readonly PassStatus[]])[] = [
  ['Issued', PASS_STATUSES],
  ['Not in a wallet yet', ['issued']],
  ['Installed or active', ['installed', 'active']],
  ['Redeemed or ended', ['redeemed', 'revoked', 'expired']],
]

export async function writeCounts(
  { id }: { readonly id: string },
  visit: DashboardVisit,
  link: LinkTo,
): Promise<Html> {
  const { db, space } = await visit.place()
  const kept = await readPassCounts(db, space, { templateIds: [id] })
  const counts = kept ?? (await countByStatus(db, space, id, MAX_COUNTED))
  const write = (statuses: readonly PassStatus[]) => {
    const each = statuses.map((status) => counts.get(status) ?? 0)
    const sum = each.reduce((one, other) => one + other, 0)
    return `${sum.toLocaleString('en')}${!kept && each.some((count) => count === MAX_COUNTED) ? '+' : ''}`
  }
  return html`${figures(GROUPS.map(([name, statuses]) => ({ name, value: write(statuses) })))}
<p>${link(`passes?template_id=${id}`, 'View passes of this template')}</p>`
}
