/**
 * Copies the configuration of live into the pages of a snapshot: what a merchant sets up, and nothing that people, money or
 * secrets are in. In a distributed database, live and the sandbox are on different shards, so the rows pass through this
 * process.
 */
import type { EndpointSecrets } from '../../api/handler.ts'
import { AUTHORIZATION_ENDPOINT } from '../../cards/authorization-endpoint/handlers.ts'
import type { Database, Statement } from '../../database/database.ts'

/** Where a copied authorization endpoint is: nowhere (RFC 2606, section 2), so that production gets no requests of a sandbox. */
const NO_URL = 'https://not-copied.invalid/'

interface CopiedTable {
  readonly name: string
  /** SQL of the members that differ from those of the row `r`. `$2` has the new secrets. */
  readonly changed?: string
  readonly where?: string
}

const SECRETS = (id: string) => `'secret', $2::json ->> ${id}, 'retired_secrets', '[]'::json`

const OF_NO_CARD = `draft.card_id IS NULL AND draft.status IN ('draft', 'shadow', 'active')`

/** Everything but the templates, whose images make them large. */
const COPIED: readonly CopiedTable[] = [
  { name: 'card_programs' },
  {
    name: 'spending_control_drafts',
    where: OF_NO_CARD.replaceAll('draft.', 'r.'),
    // Shadows and promotions are about the authorizations and the cards of live.
    changed: `'status', 'draft', 'shadow_version', NULL, 'shadow_started', NULL, 'shadow_ended', NULL, 'promotion', NULL,
              'superseded_id', NULL`,
  },
  {
    name: 'spending_control_versions',
    where: `EXISTS (SELECT FROM live.spending_control_drafts draft
                     WHERE draft.tenant_id = r.tenant_id AND draft.id = r.draft_id AND ${OF_NO_CARD})`,
  },
  {
    name: 'webhook_endpoints',
    where: `$2::json -> r.id IS NOT NULL`,
    changed: `'status', 'disabled', 'disabled_reason', 'manual', 'since', NULL, 'settled', NULL, 'timeouts', 0,
              ${SECRETS('r.id')}`,
  },
  {
    name: 'authorization_endpoints',
    changed: `'url', '${NO_URL}', ${SECRETS(`'${AUTHORIZATION_ENDPOINT}'`)}`,
  },
  { name: 'balance_alerts', changed: `'is_low', false` },
]

const lineOf = ({ changed }: CopiedTable) =>
  changed === undefined
    ? 'row_to_json(r)'
    : `row_to_json(jsonb_populate_record(r, jsonb_build_object(${changed})))`

const SETTINGS: Statement = {
  text: COPIED.map(
    (table) =>
      `SELECT '${table.name}' AS name, json_agg(${lineOf(table)})::text AS rows FROM live.${table.name} r
        WHERE r.tenant_id = $1 AND ${table.where ?? 'true'} HAVING count(*) > 0`,
  ).join(' UNION ALL '),
}

const CLOCK: Statement = {
  text: 'SELECT json_agg(row_to_json(c))::text AS rows FROM settlement_clocks c WHERE c.tenant_id = $1',
}

/** Templates in one page. */
const TEMPLATES_AT_ONCE = 20

const TEMPLATES: Statement = {
  text: `SELECT json_agg(row_to_json(t))::text AS rows, max(t.id) AS last
           FROM (SELECT r.* FROM live.pass_templates r WHERE r.tenant_id = $1 AND r.id > $2
                  ORDER BY r.id LIMIT ${TEMPLATES_AT_ONCE}) AS t`,
}

const ENDPOINTS: Statement = {
  text: 'SELECT r.id, r.signature FROM live.webhook_endpoints r WHERE r.tenant_id = $1',
}

const WRITE: Statement = {
  text: `INSERT INTO sandbox_snapshot_pages (tenant_id, snapshot_id, name, page, rows) VALUES ($1, $2, $3, $4, $5)`,
}

/**
 * Copies the configuration of live. Call this in a transaction of the owner.
 *
 * @param space the space of the sandbox that the snapshot belongs to, which gets the pages.
 */
export async function freezeConfiguration(
  db: Database,
  tenantId: string,
  { space, id }: { readonly space: string; readonly id: string },
  { make }: EndpointSecrets,
): Promise<void> {
  // An endpoint that is created after this has no secret in the next statement, which leaves it out.
  const secrets = new Map<string, string>()
  const seal = (endpoint: string, signature?: Parameters<typeof make>[2]) =>
    secrets.set(endpoint, `\\x${make(space, endpoint, signature).sealed.toString('hex')}`)
  seal(AUTHORIZATION_ENDPOINT)
  const endpoints = await db.query<{ id: string; signature: 'service' | 'standard_webhooks' }>(ENDPOINTS, [
    tenantId,
  ])
  for (const each of endpoints.rows) seal(each.id, each.signature)
  const values = [tenantId, JSON.stringify(Object.fromEntries(secrets))]
  const { rows } = await db.query<{ name: string; rows: string }>(SETTINGS, values)
  for (const { name, rows: lines } of rows) await db.query(WRITE, [space, id, name, 0, lines])
  // The clock of the sandbox may start in the past.
  const clock = (await db.query<{ rows: string | null }>(CLOCK, [space])).rows[0]!.rows
  if (clock !== null) await db.query(WRITE, [space, id, 'settlement_clocks', 0, clock])
  for (let [page, after] = [0, '']; ; page += 1) {
    const found = await db.query<{ rows: string | null; last: string | null }>(TEMPLATES, [tenantId, after])
    const { rows: lines, last } = found.rows[0]!
    if (lines === null || last === null) return
    await db.query(WRITE, [space, id, 'pass_templates', page, lines])
    after = last
  }
}
