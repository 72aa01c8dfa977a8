import type { PromotionsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { ApiError, notFound, validationFailed } from '../../api/errors/errors.ts'
import { type Context, prepared } from '../../api/handler.ts'
import { answerList } from '../../api/lists/list-query.ts'
import { emit } from '../../events/emit/emit.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'
import { findChanges, makePlan, type PromotionSource, readSources } from './plan.ts'
import { insertPromotion, listPromotions, type PromotionRow, readPromotion, writeCopy } from './queries.ts'

type Schemas = components['schemas']

export const promotionsHandlers = {
  // The sandbox is read before the transaction, which runs in live: the role of one environment cannot read the
  // other.
  createPromotion: prepared(
    (context, { body }: { body: Schemas['PromotionCreate'] }) =>
      readSources(context, body.resource_type, body.sandbox_ids),
    async (context, { body }, read) => {
      if (read.faults) throw validationFailed(read.faults)
      const { sources } = read
      const { caller, db, request } = context
      const { resource_type, dry_run = false } = body
      const plan = await makePlan(db, caller.space, resource_type, sources, !dry_run)
      await checkPlanned(context, body, plan, sources)
      const id = newId('prm', request.now)
      const copies = dry_run ? [] : await apply(context, resource_type, plan, sources, id)
      const digests = sources.map(({ digest }) => digest)
      const row = { id, resource_type, dry_run, plan, copies, digests, created: request.now }
      await insertPromotion(db, caller.space, row)
      return { status: 201, body: showPromotion(row) }
    },
  ),

  listPromotions: (context, { query }) => answerList(context, query, listPromotions, showPromotion),

  async getPromotion({ caller, db }, { path }) {
    const row = await readPromotion(db, caller.space, path.promotion_id)
    if (!row) throw notFound()
    return { status: 200, body: showPromotion(row) }
  },
} satisfies PromotionsHandlers<Context>

/**
 * Checks that the plan is still the same as in the dry run `plan_id`, if the request names one. @throws ApiError.
 */
async function checkPlanned(
  { caller, db }: Context,
  { plan_id, dry_run, resource_type, sandbox_ids }: Schemas['PromotionCreate'],
  plan: PromotionRow['plan'],
  sources: readonly PromotionSource[],
): Promise<void> {
  if (plan_id === undefined) return
  const fault = (issue: string) => validationFailed([{ field: 'plan_id', issue }])
  if (dry_run) throw fault('must not be sent with dry_run')
  const before = await readPromotion(db, caller.space, plan_id)
  if (!before?.dry_run) throw fault('is not the id of one of your dry runs')
  const isSame =
    before.resource_type === resource_type &&
    before.plan.length === sandbox_ids.length &&
    before.plan.every(({ sandbox_id }, index) => sandbox_id === sandbox_ids[index])
  if (!isSame) throw fault('is a dry run of different objects, or in a different order')
  const changes = findChanges(before, plan, sources)
  if (changes.length === 0) return
  const message =
    'Nothing was promoted, because the plan has changed since the dry run. See details for the changes.'
  throw new ApiError(409, 'conflict', 'invalid_state', message, { details: changes.slice(0, 50) })
}

/** Copies the planned objects. If any object is refused, copies nothing. */
async function apply(
  context: Context,
  resource_type: Schemas['PromotableType'],
  plan: PromotionRow['plan'],
  sources: readonly PromotionSource[],
  promotionId: string,
): Promise<Schemas['PromotedObject'][]> {
  const copies: Schemas['PromotedObject'][] = []
  if (plan.some(({ action }) => action === 'refused')) return copies
  const { caller, db, events, audit } = context
  for (const [index, { action, sandbox_id }] of plan.entries()) {
    if (action !== 'create') continue
    const copy = { sandbox_id, live_id: await sources[index]!.copy(context) }
    await writeCopy(db, caller.space, copy, promotionId)
    emit(events, { type: 'promotion.created', data: { promotion: { resource_type, ...copy } } })
    audit.add({ action: `${resource_type}.created`, targetId: copy.live_id })
    copies.push(copy)
  }
  return copies
}

/** Returns a promotion as the API shows it. `created` lists the copies, so the time is `promoted_at`. */
function showPromotion(row: PromotionRow): Schemas['Promotion'] {
  return {
    id: row.id,
    object: 'promotion',
    resource_type: row.resource_type,
    dry_run: row.dry_run,
    plan: [...row.plan],
    created: [...row.copies],
    promoted_at: writeInstant(row.created),
  }
}
