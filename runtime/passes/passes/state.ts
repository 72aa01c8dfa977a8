import type { Database, Statement } from '../../database/database.ts'
import { readSpace } from '../../database/space.ts'
import type { TenantNames } from '../../tenants/keys/tenant-names.ts'
import { type FieldValues, shownFields, type TemplateField } from '../templates/fields.ts'
import type { TemplateContent, TemplateKind } from '../templates/queries.ts'
import type { PassState, ShownMessage } from '../wallets/render/pass-state.ts'
import type { PassPlace, PassTokens } from '../wallets/render/pass-tokens.ts'
import { type ChangeFacts, changedAt } from './changed.ts'
import { statusAt } from './status.ts'

/** Inputs of a pass state that come from outside the tenant's space. */
export interface StateSources {
  readonly baseUrl: string
  readonly passTokens: Pick<PassTokens, 'write' | 'scanCode' | 'rotatingParts'>
  readonly tenantNames: TenantNames
}

interface StateRow extends ChangeFacts {
  readonly template_id: string
  readonly holder_email: string | null
  readonly holder_name: string | null
  readonly fields: FieldValues
  readonly kind: TemplateKind
  readonly name: string
  readonly brand: TemplateContent['brand']
  readonly template_fields: readonly TemplateField[]
  readonly barcode: TemplateContent['barcode']
  readonly relevant_locations: TemplateContent['relevant_locations']
  readonly options: TemplateContent['options']
  readonly messages_opted_out_at: number | null
  readonly messages: readonly MessageRow[] | null
}

interface MessageRow extends Pick<ShownMessage, 'id' | 'header' | 'body' | 'translations'> {
  /** ISO 8601. */
  readonly sent_at: string
  readonly ends_at: string | null
  readonly is_due_at_google: boolean
}

const CHANGES = `p.status, p.expires_at, coalesce(p.changed, date_trunc('second', p.updated)) AS changed, p.seen_revision,
         t.changed AS template_changed, t.revision AS template_revision`

/** Excludes wiped spaces, whose rows may not all be deleted yet. */
const stateOf = (own: string, template: string) => `SELECT ${own}${CHANGES}
         FROM passes p CROSS JOIN LATERAL (
           SELECT ${template}coalesce(t.changed, date_trunc('second', t.updated)) AS changed, t.revision
             FROM pass_templates t WHERE t.tenant_id = $1 AND t.id = p.template_id OFFSET 0) AS t
        WHERE p.tenant_id = $1 AND p.id = $2
          AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = $1)`

/** Messages that wallets show of a pass. Google Wallet keeps no more of an object ("Message"). */
const MAX_SHOWN = 10

const MESSAGES = `(SELECT json_agg(m) FROM (
           SELECT m.id, m.header, m.body, m.translations, m.sent_at, m.ends_at, m.is_due_at_google FROM pass_messages m
            WHERE m.tenant_id = $1 AND m.pass_id = $2 AND m.sent_at > '-infinity' AND m.is_shown
            ORDER BY m.sent_at DESC, m.id DESC LIMIT ${MAX_SHOWN}) AS m) AS messages`

const READ: Statement = {
  name: 'passes_state',
  text: stateOf(
    `p.template_id, p.holder_email, p.holder_name, p.fields, t.kind, t.name, t.brand, t.fields AS template_fields,
         t.barcode, t.relevant_locations, t.options, p.messages_opted_out_at, ${MESSAGES}, `,
    't.kind, t.name, t.brand, t.fields, t.barcode, t.relevant_locations, t.options, ',
  ),
}

/**
 * Reads everything that wallets show of a pass; undefined if the pass does not exist. It takes one statement in the
 * tenant's space; the tenant name comes from a cache.
 *
 * @param now service time, which decides whether the pass has expired.
 */
export async function readPassState(
  db: Database,
  place: PassPlace,
  sources: StateSources,
  now: number,
): Promise<PassState | undefined> {
  const [{ rows }, organization] = await Promise.all([
    db.query<StateRow>(READ, [place.space, place.passId]),
    sources.tenantNames.find(readSpace(place.space).tenantId),
  ])
  const row = rows[0]
  return row && organization !== undefined ? stateFrom(row, place, organization, sources, now) : undefined
}

function stateFrom(
  row: StateRow,
  place: PassPlace,
  organization: string,
  { baseUrl, passTokens }: StateSources,
  now: number,
): PassState {
  const { rotating_barcode: rotation } = row.options
  return {
    place,
    templateId: row.template_id,
    kind: row.kind,
    organization,
    name: row.name,
    status: statusAt(row, now),
    brand: row.brand,
    fields: shownFields(row.template_fields, row.fields),
    barcode: {
      format: row.barcode.format,
      message: row.barcode.message ?? passTokens.scanCode(place),
    },
    rotation: rotation && { ...rotation, ...passTokens.rotatingParts(place) },
    locations: row.relevant_locations,
    options: row.options,
    holder: { name: row.holder_name, email: row.holder_email },
    messages: (row.messages ?? []).map(({ sent_at, ends_at, is_due_at_google, ...text }) => ({
      ...text,
      sentAt: Date.parse(sent_at),
      endsAt: ends_at === null ? null : Date.parse(ends_at),
      isDueAtGoogle: is_due_at_google,
    })),
    isOptedOut: row.messages_opted_out_at !== null,
    expiresAt: row.expires_at,
    changed: changedAt(row, now),
    pageUrl: pageUrlOf({ baseUrl, passTokens }, place),
    appleToken: passTokens.write('apple', place),
    webServiceUrl: `${baseUrl}/apple`,
  }
}

export function pageUrlOf(
  { baseUrl, passTokens }: Pick<StateSources, 'baseUrl'> & { readonly passTokens: Pick<PassTokens, 'write'> },
  place: PassPlace,
): string {
  return `${baseUrl}/p/${passTokens.write('page', place)}`
}

const READ_CHANGED: Statement = { name: 'passes_state_changed', text: stateOf('', '') }

/** Reads only the time of the last visible change; undefined if the pass does not exist. */
export async function readChanged(
  db: Database,
  { space, passId }: PassPlace,
  now: number,
): Promise<number | undefined> {
  const { rows } = await db.query<ChangeFacts>(READ_CHANGED, [space, passId])
  return rows[0] && changedAt(rows[0], now)
}
