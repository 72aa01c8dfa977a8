import type { components } from '../../../generated/canonical/types.ts'
import { ApiError, invalidState, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { pipelined } from '../../database/pipelined.ts'
import { emit } from '../../events/emit/emit.ts'
import { letOthersIn, PAUSE_AFTER } from '../../platform/fairness/pauses.ts'
import { floorToSecond } from '../../platform/instants.ts'
import { unknownKeys } from '../templates/fields.ts'
import {
  type LockedTemplate,
  type LockedTemplates,
  shareFreeTemplates,
  shareTemplates,
} from '../templates/queries.ts'
import { readExpiry } from './expiry.ts'
import { type SignedId, signId } from './links.ts'
import { passMove } from './moves.ts'
import { insertPasses, type PassRow } from './queries.ts'
import { isOnTrial, TRIAL_PASSES, trialIsOver } from './trial.ts'
import { addTrialUsage, lockTrialUsage } from './trial-queries.ts'
import { showingOf, showPass } from './view.ts'

export type PassOrder = components['schemas']['PassCreate']

type ReadOrder = PassOrder | ApiError | undefined

function templatesOf(orders: readonly ReadOrder[]): string[] {
  const ids = new Set<string>()
  for (const order of orders) if (order && !(order instanceof ApiError)) ids.add(order.template_id)
  return [...ids]
}

/**
 * Locks the templates that are not locked by others, without waiting. It runs before the request is known to be new: a
 * repeated request issues nothing and must not wait for a lock.
 */
export function shareAhead({ caller, db }: Context, orders: readonly ReadOrder[]): Promise<LockedTemplates> {
  return shareFreeTemplates(db, caller.space, templatesOf(orders))
}

async function shareAll(
  { caller, db }: Context,
  orders: readonly ReadOrder[],
  free: LockedTemplates,
): Promise<LockedTemplates> {
  const missing = templatesOf(orders).filter((id) => !free.has(id))
  return missing.length === 0
    ? free
    : new Map([...free, ...(await shareTemplates(db, caller.space, missing))])
}

/**
 * Issues passes and checks each order separately: a refused order does not stop the others. Throws an `ApiError` if the
 * trial has expired. The insert is pipelined: if it fails, the transaction fails.
 *
 * @param orders an `ApiError` marks an order that was refused earlier.
 * @param signed the signed link for the order at the same index. A missing link is signed here, inside the transaction.
 * @param prefetched the result of `shareAhead` for the same orders.
 */
export async function issuePasses(
  context: Context,
  orders: readonly (PassOrder | ApiError)[],
  signed: readonly (SignedId | undefined)[],
  prefetched: Promise<LockedTemplates>,
): Promise<(PassRow | ApiError)[]> {
  const { caller, db, events } = context
  const { now } = context.request
  const trial = isOnTrial(caller)
  if (trial && trialIsOver(caller.tenant.created, now)) {
    throw paymentRequired(
      'trial_expired',
      'The trial ended 30 days after the account was created. Choose a plan to continue.',
    )
  }
  const templates = await shareAll(context, orders, await prefetched)
  let room = trial ? TRIAL_PASSES - (await lockTrialUsage(db, caller.space)) : Number.POSITIVE_INFINITY
  const drafts = orders.map((order) => {
    const checked =
      order instanceof ApiError ? order : checkOrder(order, templates.get(order.template_id), now)
    if (checked instanceof ApiError) return checked
    room -= 1
    return room < 0 ? trialLimitReached() : checked
  })
  const outcomes = await Promise.all(
    drafts.map((draft, index) =>
      draft instanceof ApiError ? draft : makePass(context, draft, signed[index]),
    ),
  )
  const rows = outcomes.filter((outcome) => !(outcome instanceof ApiError))
  if (rows.length > 0) pipelined(insertPasses(db, caller.space, rows))
  const showing = showingOf(context)
  for (const [index, row] of rows.entries()) {
    emit(events, {
      type: 'pass.created',
      data: { pass: showPass(row, showing) },
      passMove: passMove(undefined, row),
    })
    if ((index + 1) % PAUSE_AFTER === 0) await letOthersIn()
  }
  if (trial && rows.length > 0) pipelined(addTrialUsage(db, caller.space, rows.length))
  return outcomes
}

/** A valid order. */
interface PassDraft {
  readonly order: PassOrder
  readonly template: LockedTemplate
  readonly expiresAt: number | null
}

function checkOrder(
  order: PassOrder,
  template: LockedTemplate | undefined,
  now: number,
): PassDraft | ApiError {
  if (!template) return validationFailed([{ field: 'template_id', issue: 'is not the ID of a template' }])
  if (template.status === 'archived')
    return invalidState('The template is archived. Passes cannot be issued from it.')
  const expiry = order.expires_at === undefined ? null : readExpiry(order.expires_at, now)
  const faults = unknownKeys(template.fields, order.fields ?? {})
  if (typeof expiry === 'object' && expiry !== null) faults.push(expiry)
  if (faults.length > 0) return validationFailed(faults)
  return { order, template, expiresAt: typeof expiry === 'number' ? expiry : null }
}

async function makePass(
  context: Context,
  { order, template, expiresAt }: PassDraft,
  signed: SignedId | undefined,
): Promise<PassRow> {
  const { id, link } = signed ?? (await signId(context, template.id, template.kind))
  return {
    id,
    template_id: template.id,
    status: 'issued',
    holder_email: order.holder?.email ?? null,
    holder_name: order.holder?.name ?? null,
    fields: order.fields ?? {},
    platforms: [],
    page_token: context.links.passTokens.write('page', { space: context.caller.space, passId: id }),
    google_url: null,
    google_link: link,
    metadata: order.metadata ?? {},
    expires_at: expiresAt,
    installed_at: null,
    revoked_at: null,
    archived_at: null,
    messages_opted_out_at: null,
    created: context.request.now,
    updated: context.request.now,
    template_fields: template.fields,
    template_kind: template.kind,
    changed: floorToSecond(context.request.now),
    seen_revision: template.revision,
    template_changed: template.changed,
    template_revision: template.revision,
  }
}

function trialLimitReached(): ApiError {
  return paymentRequired('trial_limit_reached', 'The trial covers 500 passes. Choose a plan to issue more.')
}

function paymentRequired(code: 'trial_limit_reached' | 'trial_expired', message: string): ApiError {
  return new ApiError(402, 'payment_required', code, message)
}
