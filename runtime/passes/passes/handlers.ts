import type { CheckedItem, Detail } from 'dateline/runtime'
import type { PassesHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { ApiError, describeItemError, notFound, validationFailed } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { prepared, storing } from '../../api/handler.ts'
import { answerList, readCreated } from '../../api/lists/list-query.ts'
import type { LockedTemplates } from '../templates/queries.ts'
import { archive, changePasses, type PassRequest, patch, revoke } from './changes.ts'
import { issuePasses, type PassOrder, shareAhead } from './issuing.ts'
import { answersWithPasses, signIds } from './links.ts'
import { countPasses, listPasses, type PassRow, readPass } from './queries.ts'
import { showingOf, showPass } from './view.ts'

type Schemas = components['schemas']

interface OnePass {
  readonly path: { readonly pass_id: string }
}

interface Items<Item> {
  readonly items: readonly CheckedItem<Item>[]
}

export const passesHandlers = {
  createPass: storing(
    answersWithPasses,
    prepared(
      (context, { body }: { body: PassOrder }) => signIds(context, [body.template_id]),
      async (context, { body }, signed, prefetched: Promise<LockedTemplates>) => {
        const [outcome] = await issuePasses(context, [body], signed, prefetched)
        return { status: 201 as const, body: show(context, outcome) }
      },
      (context, { body }) => shareAhead(context, [body]),
    ),
  ),

  async listPasses(context, { query }) {
    const { now } = context.request
    const showing = showingOf(context)
    return answerList(
      context,
      query,
      (db, space, filter, page) => listPasses(db, space, filter, page, now),
      (row) => showPass(row, showing),
    )
  },

  async countPasses({ caller, request, db }, { query }) {
    const count = await countPasses(db, caller.space, { ...query, created: readCreated(query) }, request.now)
    return { status: 200, body: { object: 'count', count } }
  },

  async getPass(context, { path }) {
    const row = await readPass(context.db, context.caller.space, path.pass_id)
    if (!row) throw notFound()
    return { status: 200, body: showPass(row, showingOf(context)) }
  },

  async updatePass(context, { path, body }) {
    return changeOne(context, path.pass_id, 'pass.updated', (pass) => patch(pass, body, context.request.now))
  },

  revokePass: storing(answersWithPasses, async (context, { path }: OnePass) =>
    changeOne(context, path.pass_id, 'pass.revoked', (pass) => revoke(pass, context.request.now)),
  ),

  archivePass: storing(answersWithPasses, async (context, { path }: OnePass) =>
    changeOne(context, path.pass_id, 'pass.archived', (pass) => archive(pass, context.request.now)),
  ),

  createPassBatch: storing(
    answersWithPasses,
    prepared(
      (context, { items }: Items<PassOrder>) =>
        signIds(
          context,
          items.map((item) => (item.valid ? item.value.template_id : undefined)),
        ),
      async (context, { items }, signed, prefetched: Promise<LockedTemplates>) => {
        const orders = items.map((item) => (item.valid ? item.value : refuseItem(item.details)))
        return showBatch(context, await issuePasses(context, orders, signed, prefetched))
      },
      (context, { items }) =>
        shareAhead(
          context,
          items.map((item) => (item.valid ? item.value : undefined)),
        ),
    ),
  ),

  updatePassBatch: storing(
    answersWithPasses,
    async (context, { items }: Items<Schemas['PassBatchUpdateItem']>) => {
      const requests = items.map((item) => {
        if (!item.valid) return refuseItem(item.details)
        const { id, ...change } = item.value
        return {
          id,
          type: 'pass.updated' as const,
          change: (pass: PassRow) => patch(pass, change, context.request.now),
        }
      })
      return showBatch(context, await changePasses(context, requests))
    },
  ),

  revokePassBatch: storing(answersWithPasses, async (context, { items }: Items<string>) => {
    const change = (pass: PassRow) => revoke(pass, context.request.now)
    const requests = items.map((item) =>
      item.valid ? { id: item.value, type: 'pass.revoked' as const, change } : refuseItem(item.details),
    )
    return showBatch(context, await changePasses(context, requests))
  }),
} satisfies PassesHandlers<Context>

async function changeOne(
  context: Context,
  id: string,
  type: PassRequest['type'],
  change: PassRequest['change'],
): Promise<{ status: 200; body: Schemas['Pass'] }> {
  const [outcome] = await changePasses(context, [{ id, type, change }])
  return { status: 200, body: show(context, outcome) }
}

function show(context: Context, outcome: PassRow | ApiError | undefined): Schemas['Pass'] {
  if (outcome === undefined) throw new Error('a pass has no outcome')
  if (outcome instanceof ApiError) throw outcome
  return showPass(outcome, showingOf(context))
}

/** The error for an item that the validator of the caller's version rejected. */
function refuseItem(details: readonly Detail[]): ApiError {
  return validationFailed(details, { asSent: true })
}

function showBatch(
  context: Context,
  outcomes: readonly (PassRow | ApiError)[],
): { status: 200; body: Schemas['PassBatch'] } {
  const results = outcomes.map((outcome, index): Schemas['PassBatchResult'] =>
    outcome instanceof ApiError
      ? { index, status: 'failed', error: describeItemError(outcome, context.request.id) }
      : { index, status: 'succeeded', pass: showPass(outcome, showingOf(context)) },
  )
  return { status: 200, body: { object: 'batch', results } }
}
