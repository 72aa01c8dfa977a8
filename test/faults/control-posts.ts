/** POSTs about drafts of spending controls. */
import { ENVIRONMENTS } from '../../runtime/platform/environment.ts'
import { administer } from '../support/server.ts'
import type { Send } from '../support/service.ts'
import type { Post } from './post.ts'

const CONTROLS = { spending_controls: { max_authorization_count: 1 } }

async function makeDraft(send: Send, target: object = {}): Promise<string> {
  const body = { name: crypto.randomUUID(), ...CONTROLS, ...target }
  return (await send('/v1/spending_control_drafts', { body })).body.id
}

/** A draft for a new card. */
async function makeForCard(send: Send, content: object = {}) {
  const cardholder_id = (await send('/v1/cardholders', { body: { name: 'Ada Moreau' } })).body.id
  const body = { cardholder_id, type: 'virtual', ...content }
  const card_id: string = (await send('/v1/cards', { body })).body.id
  return { card_id, id: await makeDraft(send, { card_id }) }
}

/** Runs statements in both environments, because the walk through live prepares there. */
async function administerBoth(url: string, ...statements: readonly string[]): Promise<void> {
  for (const environment of ENVIRONMENTS)
    for (const statement of statements) await administer(url, statement.replaceAll('{schema}', environment))
}

const setStatus = (from: string, to: string, where: string) =>
  `UPDATE {schema}.spending_control_drafts SET status = '${to}', shadow_version = 1, shadow_started = created
    WHERE status = '${from}' AND ${where}`

const endShadows = (tenantId: string) =>
  setStatus('shadow', 'draft', `split_part(tenant_id, '.', 1) = '${tenantId}'`)

const STATUS = `SELECT count(*) AS count FROM sandbox.spending_control_drafts WHERE tenant_id = $1 AND id = $2`

/** Counts the drafts whose card has controls that compare with theirs. */
const IN_FORCE = `SELECT count(*) AS count FROM sandbox.spending_control_drafts d
  JOIN sandbox.cards c ON c.tenant_id = d.tenant_id AND c.id = d.card_id
 WHERE d.tenant_id = $1 AND d.id = $2 AND c.spending_controls`

/** Statements that leave a draft as a promotion does, whose second factor a preparation does not have. */
const promoted = (id: string): readonly string[] => [
  `INSERT INTO {schema}.spending_control_versions (tenant_id, id, draft_id, version, spending_controls, created, origin)
   SELECT tenant_id, replace(id, 'scd_', 'scv_'), id, 2, spending_controls || '{"max_authorization_count": null}', created, 'replaced'
     FROM {schema}.spending_control_drafts WHERE id = '${id}'`,
  `INSERT INTO {schema}.spending_control_replacements (tenant_id, draft_id, target_id, version)
   SELECT tenant_id, id, card_id, 2 FROM {schema}.spending_control_drafts WHERE id = '${id}'`,
  `UPDATE {schema}.spending_control_drafts SET status = 'active',
          promotion = '{"version": 1, "cards": 1, "promoted": "2026-06-01T12:00:00.000Z", "rolled_back": null}' WHERE id = '${id}'`,
]

const JANUARY = { interval_start: '2026-01-01T00:00:00Z', interval_end: '2026-02-01T00:00:00Z' }

async function makeBacktest(send: Send): Promise<string> {
  const path = `/v1/spending_control_drafts/${await makeDraft(send)}/backtests`
  return (await send(path, { body: JANUARY })).body.id
}

const endPending = (tenantId: string) =>
  `UPDATE sandbox.spending_control_backtests SET status = 'failed' WHERE tenant_id = '${tenantId}' AND status = 'pending'`

export const CONTROL_POSTS: readonly Post[] = [
  {
    operation: 'createSpendingControlDraft',
    status: 201,
    audit: ['spending_control_draft.created'],
    events: ['spending_control_draft.created'],
    prepare: async () => {
      const id = crypto.randomUUID()
      return { path: '/v1/spending_control_drafts', body: { name: id, spending_controls: {} }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.spending_control_drafts d
               JOIN sandbox.spending_control_versions v ON v.tenant_id = d.tenant_id AND v.draft_id = d.id
              WHERE d.tenant_id = $1 AND d.name = $2`,
    once: 1,
  },
  {
    operation: 'archiveSpendingControlDraft',
    status: 200,
    audit: ['spending_control_draft.archived'],
    events: [],
    prepare: async (send) => {
      const id = await makeDraft(send)
      return { path: `/v1/spending_control_drafts/${id}/archive`, body: {}, id }
    },
    effect: `${STATUS} AND status = 'archived'`,
    once: 1,
  },
  {
    operation: 'startSpendingControlShadow',
    status: 200,
    audit: ['spending_control_shadow.started'],
    events: ['spending_control_draft.shadow_started'],
    prepare: async (send, { database, tenantId }) => {
      // The shadows of earlier rounds would reach the maximum number.
      await administerBoth(database.url, endShadows(tenantId))
      const id = await makeDraft(send)
      return { path: `/v1/spending_control_drafts/${id}/shadow`, body: {}, id }
    },
    effect: `${STATUS} AND status = 'shadow'`,
    once: 1,
  },
  {
    operation: 'endSpendingControlShadow',
    status: 200,
    audit: ['spending_control_shadow.ended'],
    events: ['spending_control_draft.shadow_ended'],
    prepare: async (send, { database }) => {
      const id = await makeDraft(send)
      await administerBoth(database.url, setStatus('draft', 'shadow', `id = '${id}'`))
      return { path: `/v1/spending_control_drafts/${id}/end_shadow`, body: {}, id }
    },
    effect: `${STATUS} AND status = 'draft' AND shadow_ended IS NOT NULL`,
    once: 1,
  },
  {
    operation: 'promoteSpendingControlDraft',
    status: 200,
    audit: [
      'spending_control_version.replaced',
      'spending_control_version.activated',
      'spending_control_draft.promoted',
    ],
    events: ['card.updated', 'spending_control_draft.promoted'],
    prepare: async (send) => {
      const { id } = await makeForCard(send)
      return { path: `/v1/spending_control_drafts/${id}/promote`, body: { version: 1 }, id }
    },
    effect: `${IN_FORCE} = d.spending_controls AND d.status = 'active'`,
    once: 1,
    factor: true,
  },
  {
    operation: 'rollBackSpendingControlDraft',
    status: 200,
    audit: [
      'spending_control_version.replaced',
      'spending_control_version.activated',
      'spending_control_draft.reverted',
    ],
    events: ['card.updated', 'spending_control_draft.rolled_back'],
    prepare: async (send, { database }) => {
      const { id } = await makeForCard(send, CONTROLS)
      await administerBoth(database.url, ...promoted(id))
      return { path: `/v1/spending_control_drafts/${id}/roll_back`, body: {}, id }
    },
    effect: `${IN_FORCE} <> d.spending_controls AND d.status = 'draft'`,
    once: 1,
    factor: true,
  },
  {
    operation: 'createSpendingControlBacktest',
    status: 201,
    audit: ['spending_control_backtest.created'],
    events: [],
    prepare: async (send, { database, tenantId }) => {
      // No worker ends the backtests of earlier rounds, and at the limit of pending ones the next is refused.
      await administer(database.url, endPending(tenantId))
      const id = await makeDraft(send)
      return { path: `/v1/spending_control_drafts/${id}/backtests`, body: JANUARY, id }
    },
    effect:
      'SELECT count(*) AS count FROM sandbox.spending_control_backtests WHERE tenant_id = $1 AND spending_control_draft_id = $2',
    once: 1,
  },
  {
    operation: 'simulateSpendingControlBacktestFailure',
    status: 200,
    audit: ['spending_control_backtest_failure.simulated'],
    events: ['spending_control_backtest.failed'],
    environment: 'sandbox',
    prepare: async (send, { database, tenantId }) => {
      await administer(database.url, endPending(tenantId))
      const id = await makeBacktest(send)
      const path = '/v1/test/spending_control_backtests/simulate_failure'
      return { path, body: { spending_control_backtest_id: id }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.spending_control_backtests
              WHERE tenant_id = $1 AND id = $2 AND status = 'failed'`,
    once: 1,
  },
]
