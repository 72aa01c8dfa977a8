/** The pass of a page, its template, and its drawing. */
import type { components } from '../../../../generated/canonical/types.ts'
import type { Html } from '../../../platform/html.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { draftOf, type TemplateObject } from '../templates/draft.ts'
import { drawPasses, scanCodeOf } from '../templates/preview.ts'

export type PassObject = components['schemas']['Pass']

/** Path of the pages of passes, below the environment. */
export const PASSES_PATH = 'passes'

export const WALLETS: Readonly<Record<string, string>> = { apple: 'Apple Wallet', google: 'Google Wallet' }

const templates = new WeakMap<PassObject, Promise<TemplateObject>>()

/** Returns the template of a pass. The parts of a page share one read. */
export function templateOf(visit: DashboardVisit, pass: PassObject): Promise<TemplateObject> {
  const { template_id } = pass
  const known = templates.get(pass)
  const template = known ?? visit.read<TemplateObject>('getPassTemplate', { path: { template_id } })
  if (!known) templates.set(pass, template)
  return template
}

export function holderOf({ holder }: Pick<PassObject, 'holder'>): string {
  return holder.name || holder.email || 'Pass without a holder'
}

/** Whether the pass can still change. */
export function isUsable({ status }: Pick<PassObject, 'status'>): boolean {
  return status === 'issued' || status === 'installed' || status === 'active'
}

/** Draws the pass in both wallets. */
export async function drawPass(
  visit: DashboardVisit,
  template: TemplateObject,
  { id, status, holder, fields, expires_at }: PassObject,
): Promise<Html> {
  return drawPasses(visit, draftOf(template), {
    status,
    holder,
    values: fields,
    expiresAt: expires_at === null ? null : Date.parse(expires_at),
    scanCode: await scanCodeOf(visit, id),
  })
}
