/**
 * The three operations of the bench as one writes them by hand: the service's own statements and the same bodies, but no
 * keys, limits, versions or validation. Peers differ in the web framework and the driver that carry them.
 */
import { sign } from 'node:crypto'
import { promisify } from 'node:util'
import { claimKey } from '../../runtime/api/idempotency.ts'
import { enqueueOutcome } from '../../runtime/api/outcome.ts'
import type { Database } from '../../runtime/database/database.ts'
import { insertPasses, listPasses, type PassRow, readPass } from '../../runtime/passes/passes/queries.ts'
import { type PassShowing, showPass } from '../../runtime/passes/passes/view.ts'
import { shareTemplates } from '../../runtime/passes/templates/queries.ts'
import { textToSign, writeLink } from '../../runtime/passes/wallets/render/google/link.ts'
import { openGoogleSigner } from '../../runtime/passes/wallets/render/google/signer.ts'
import { createPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { newId } from '../../runtime/platform/ids.ts'

const tenantId = process.env.TENANT_ID ?? ''

/** Where the peer listens, known once it does. */
export const origin = (): string => process.env.PEER_ORIGIN ?? ''

const passTokens = createPassTokens('pepper', 'sandbox')

const showing = (now: number): PassShowing => ({ baseUrl: origin(), passTokens, space: tenantId, now })

export interface PassOrder {
  readonly template_id: string
  readonly holder: { readonly email: string; readonly name: string }
  readonly fields: Record<string, string>
}

export async function getPass(db: Database, id: string): Promise<unknown> {
  const row = await readPass(db, tenantId, id)
  return row && showPass(row, showing(Date.now()))
}

export async function getPasses(db: Database, limit: number): Promise<unknown> {
  const page = { limit, order: 'desc', backward: false } as const
  const now = Date.now()
  const { rows, hasMore } = await listPasses(db, tenantId, { created: {} }, page, now)
  return { data: rows.map((row) => showPass(row, showing(now))), has_more: hasMore, next_cursor: null }
}

const { key: signingKey, ...signer } = openGoogleSigner({ dataDir: process.env.DATA_DIR ?? '' })
const signAsync = promisify(sign)

export interface SignedPass {
  readonly id: string
  readonly link: string
}

/** The identifier of a pass and its link for Google Wallet, signed before the transaction on a thread of its own. */
export async function signPass(order: PassOrder): Promise<SignedPass> {
  const now = Date.now()
  const id = newId('pass', now)
  const signing = { ...signer, at: Math.floor(now / 1000) }
  const text = textToSign({ id, templateId: order.template_id, kind: 'loyalty' }, signing)
  return { id, link: writeLink(signing, await signAsync('RSA-SHA256', Buffer.from(text), signingKey)) }
}

/** Belongs into a transaction. */
export async function postPass(
  db: Database,
  order: PassOrder,
  { id, link }: SignedPass,
  key: string,
): Promise<unknown> {
  const now = Date.now()
  await claimKey(db, 'sandbox', tenantId, key)
  const template = (await shareTemplates(db, tenantId, [order.template_id])).get(order.template_id)
  if (!template) throw new Error('no such template')
  const row: PassRow = {
    id,
    template_id: template.id,
    status: 'issued',
    holder_email: order.holder.email,
    holder_name: order.holder.name,
    fields: order.fields,
    platforms: [],
    page_token: passTokens.write('page', { space: tenantId, passId: id }),
    google_url: null,
    google_link: link,
    metadata: {},
    expires_at: null,
    installed_at: null,
    revoked_at: null,
    archived_at: null,
    messages_opted_out_at: null,
    created: now,
    updated: now,
    template_fields: template.fields,
    template_kind: template.kind,
    changed: now,
    seen_revision: template.revision,
    template_changed: template.changed,
    template_revision: template.revision,
  }
  await insertPasses(db, tenantId, [row])
  const body = showPass(row, showing(now))
  const entry = {
    id: newId('aud', now),
    environment: 'sandbox',
    actorType: 'key',
    actorId: 'key',
    action: 'pass.created',
    targetId: row.id,
    outcome: 'succeeded',
    requestId: newId('req', now),
    ip: '127.0.0.1',
    version: '2026-05-19',
    created: now,
  } as const
  const stored = { key, fingerprint: Buffer.alloc(32), status: 201, body: JSON.stringify(body) }
  const response = { ...stored, canonicalVersion: '2026-05-19' }
  enqueueOutcome(db, false, { space: tenantId, entry, response })
  return body
}
