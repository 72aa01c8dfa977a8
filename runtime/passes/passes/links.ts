/**
 * Save links for Google Wallet. They are signed before the transaction of a pass begins, and stored once, with the
 * pass.
 */
import type { components } from '../../../generated/canonical/types.ts'
import type { Context, StoredForm } from '../../api/handler.ts'
import { newId } from '../../platform/ids.ts'
import { readKinds, type TemplateKind } from '../templates/queries.ts'
import { googleSaveUrl } from '../wallets/render/google/link.ts'
import { type PassLink, readLinks } from './queries.ts'

type Pass = components['schemas']['Pass']
type PassBatch = components['schemas']['PassBatch']

/** The ID of a pass that is not issued yet, with the stored part of its link. */
export interface SignedId {
  readonly id: string
  readonly kind: TemplateKind
  readonly link: string
}

/** Template kinds by environment, space and template ID. A kind never changes and an ID is never reused. */
let kinds = new Map<string, TemplateKind>()

/** At this size the cache is emptied. */
const MAX_KINDS = 20_000

async function findKinds(
  { caller, db }: Pick<Context, 'caller' | 'db'>,
  templateIds: ReadonlySet<string>,
): Promise<ReadonlyMap<string, TemplateKind>> {
  const found = new Map<string, TemplateKind>()
  const name = (id: string) => `${caller.environment} ${caller.space} ${id}`
  const unknown: string[] = []
  for (const id of templateIds) {
    const kind = kinds.get(name(id))
    if (kind) found.set(id, kind)
    else unknown.push(id)
  }
  if (unknown.length === 0) return found
  if (kinds.size > MAX_KINDS) kinds = new Map()
  for (const { id, kind } of await readKinds(db, caller.space, unknown)) {
    found.set(id, kind)
    kinds.set(name(id), kind)
  }
  return found
}

export async function signId(
  { caller, request, links }: Pick<Context, 'caller' | 'request' | 'links'>,
  templateId: string,
  kind: TemplateKind,
): Promise<SignedId> {
  const id = newId('pass', request.now)
  return { id, kind, link: await links.wallet.signGoogleLink(caller.tenant.id, { id, templateId, kind }) }
}

/** Creates an ID and signs a link for each order, in order. An entry is undefined if its template is unknown. */
export async function signIds(
  context: Context,
  templateIds: readonly (string | undefined)[],
): Promise<readonly (SignedId | undefined)[]> {
  const known = await findKinds(context, new Set(templateIds.filter((id) => id !== undefined)))
  return Promise.all(
    templateIds.map((id) => {
      const kind = id === undefined ? undefined : known.get(id)
      return kind && signId(context, id!, kind)
    }),
  )
}

/** Returns the complete link. Old passes have it stored complete; newer ones store only the part that varies. */
export function showLink(pass: PassLink): string {
  const { id, template_id: templateId, template_kind: kind, google_url, google_link } = pass
  if (google_url !== null) return google_url
  if (google_link === null) throw new Error(`${id} has no link`)
  return googleSaveUrl({ id, templateId, kind }, google_link)
}

function passesIn(body: Pass | PassBatch): Pass[] {
  return body.object === 'pass'
    ? [body]
    : body.results.flatMap((result) => ('pass' in result ? result.pass : []))
}

function withoutLink(pass: Pass): Pass {
  return { ...pass, download: { ...pass.download, google_url: '' } }
}

/** Stores responses without the links of their passes. The links are stored with the passes and never change. */
export const answersWithPasses: StoredForm<Pass | PassBatch> = {
  leaveOut(body) {
    if (body.object === 'pass') return withoutLink(body)
    const results = body.results.map((result) =>
      'pass' in result ? { ...result, pass: withoutLink(result.pass) } : result,
    )
    return { ...body, results }
  },

  async putBack(db, space, kept) {
    const passes = passesIn(kept)
    const ids = passes.map(({ id }) => id)
    const links = ids.length === 0 ? [] : await readLinks(db, space, ids)
    const byId = new Map(links.map((link) => [link.id, link]))
    for (const { id, download } of passes) download.google_url = showLink(byId.get(id)!)
    return kept
  },
}
