import { ENVIRONMENTS } from '../../runtime/platform/environment.ts'
import { planAll } from '../support/planning.ts'
import type { Send } from '../support/service.ts'
import { CONTROL_POSTS } from './control-posts.ts'
import { messagePosts } from './message-posts.ts'
import { MONEY_POSTS, makeCleared } from './money-posts.ts'
import { PAYOUT_POSTS } from './payout-posts.ts'
import type { Post } from './post.ts'
import { SANDBOX_POSTS } from './sandbox-posts.ts'
import { settlementPosts } from './settlement-posts.ts'

const TEMPLATE = {
  name: 'Coffee loyalty',
  kind: 'loyalty',
  brand: { background_color: '#1E3A5F', foreground_color: '#FFFFFF' },
  fields: [{ key: 'points', label: 'Points', value: '0' }],
}

const NOWHERE = '00000000000000000000000000'

const PERSON = {
  name: 'Ada Moreau',
  date_of_birth: '1990-04-12',
  address: { line1: 'Rue 1', city: 'Paris', postal_code: '75001', country: 'FR' },
}

const MATCH = '/v1/test/cardholders/simulate_sanctions_match'

async function make(send: Send, path: string, body: unknown): Promise<string> {
  const answer = await send(path, { body })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.text}`)
  return answer.body.id
}

const makeTemplate = (send: Send, kind = TEMPLATE.kind) =>
  make(send, '/v1/pass_templates', { ...TEMPLATE, kind })

async function makePass(send: Send, kind = TEMPLATE.kind): Promise<string> {
  return make(send, '/v1/passes', { template_id: await makeTemplate(send, kind) })
}

async function makeEnded(send: Send): Promise<string> {
  const id = await makePass(send)
  const { status, text } = await send(`/v1/passes/${id}/revoke`, { method: 'POST' })
  if (status !== 200) throw new Error(text)
  return id
}

const makeCardholder = (send: Send) => make(send, '/v1/cardholders', { name: 'Ada Moreau' })

const PHYSICAL = {
  type: 'physical',
  shipping: {
    address: { line1: '1 Quay', city: 'Oakland', state: 'CA', postal_code: '94607', country: 'US' },
    service: 'standard',
  },
}

export async function makeCard(send: Send, content: object = { type: 'virtual' }): Promise<string> {
  return make(send, '/v1/cards', { cardholder_id: await makeCardholder(send), ...content })
}

/** A public address, which nothing is sent to here. */
const HOOKS = 'https://93.184.215.14/hooks'

export function makeEndpoint(send: Send): Promise<string> {
  return make(send, '/v1/webhook-endpoints', { url: HOOKS, enabled_events: ['treasury_report.failed'] })
}

const OF_TEMPLATE = 'SELECT count(*) AS count FROM sandbox.passes WHERE tenant_id = $1 AND template_id = $2'
const SCANNED = `SELECT count(*) AS count FROM sandbox.scans s
                 JOIN sandbox.passes p ON p.tenant_id = s.tenant_id AND p.id = s.pass_id
                 WHERE s.tenant_id = $1 AND s.pass_id = $2`
const PASS = 'SELECT count(*) AS count FROM sandbox.passes WHERE tenant_id = $1 AND id = $2'

const CARD = 'SELECT count(*) AS count FROM sandbox.cards WHERE tenant_id = $1 AND id = $2'
const OF_CARDHOLDER =
  'SELECT count(*) AS count FROM sandbox.cards WHERE tenant_id = $1 AND cardholder_id = $2'

/** Every POST that has a handler, successes and refusals that are kept. */
export const POSTS: readonly Post[] = [
  {
    operation: 'createPassTemplate',
    status: 201,
    audit: ['pass_template.created'],
    events: ['pass_template.created'],
    prepare: async () => {
      const id = crypto.randomUUID()
      return { path: '/v1/pass_templates', body: { ...TEMPLATE, name: id }, id }
    },
    effect: 'SELECT count(*) AS count FROM sandbox.pass_templates WHERE tenant_id = $1 AND name = $2',
    once: 1,
  },
  {
    operation: 'archivePassTemplate',
    status: 200,
    audit: ['pass_template.archived'],
    events: ['pass_template.archived'],
    prepare: async (send) => {
      const id = await makeTemplate(send)
      return { path: `/v1/pass_templates/${id}/archive`, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.pass_templates
             WHERE tenant_id = $1 AND id = $2 AND status = 'archived'`,
    once: 1,
  },
  {
    operation: 'createPass',
    status: 201,
    audit: ['pass.created'],
    events: ['pass.created'],
    prepare: async (send) => {
      const id = await makeTemplate(send)
      return { path: '/v1/passes', body: { template_id: id }, id }
    },
    effect: OF_TEMPLATE,
    once: 1,
  },
  {
    operation: 'createPass',
    about: 'refused: there is no such template',
    status: 422,
    audit: ['pass.created'],
    events: [],
    prepare: async () => ({
      path: '/v1/passes',
      body: { template_id: `tpl_${NOWHERE}` },
      id: `tpl_${NOWHERE}`,
    }),
    effect: OF_TEMPLATE,
    once: 0,
  },
  {
    operation: 'revokePass',
    status: 200,
    audit: ['pass.revoked'],
    events: ['pass.revoked'],
    prepare: async (send) => {
      const id = await makePass(send)
      return { path: `/v1/passes/${id}/revoke`, id }
    },
    effect: `${PASS} AND status = 'revoked'`,
    once: 1,
  },
  {
    operation: 'revokePass',
    about: 'refused: there is no such pass',
    status: 404,
    audit: ['pass.revoked'],
    events: [],
    prepare: async () => ({ path: `/v1/passes/pass_${NOWHERE}/revoke`, id: `pass_${NOWHERE}` }),
    effect: PASS,
    once: 0,
  },
  {
    operation: 'archivePass',
    status: 200,
    audit: ['pass.archived'],
    events: ['pass.archived'],
    prepare: async (send) => {
      const id = await makeEnded(send)
      return { path: `/v1/passes/${id}/archive`, id }
    },
    effect: `${PASS} AND archived_at IS NOT NULL`,
    once: 1,
  },
  {
    operation: 'archivePass',
    about: 'refused: it is in use',
    status: 409,
    audit: ['pass.archived'],
    events: [],
    prepare: async (send) => {
      const id = await makePass(send)
      return { path: `/v1/passes/${id}/archive`, id }
    },
    effect: `${PASS} AND archived_at IS NOT NULL`,
    once: 0,
  },
  {
    operation: 'createPassBatch',
    status: 200,
    audit: ['pass_batch.created'],
    events: Array(3).fill('pass.created'),
    prepare: async (send) => {
      const id = await makeTemplate(send)
      const passes = [{ template_id: id }, { template_id: 1 }, { template_id: id }, { template_id: id }]
      return { path: '/v1/passes/batch', body: { passes }, id }
    },
    effect: OF_TEMPLATE,
    once: 3,
  },
  {
    operation: 'updatePassBatch',
    status: 200,
    audit: ['pass_batch.updated'],
    events: ['pass.updated'],
    prepare: async (send) => {
      const id = await makePass(send)
      return {
        path: '/v1/passes/batch_update',
        body: { updates: [{ id, metadata: { a: '1' } }, { id: `pass_${NOWHERE}` }] },
        id,
      }
    },
    effect: `${PASS} AND metadata::jsonb = '{"a":"1"}'`,
    once: 1,
  },
  {
    operation: 'revokePassBatch',
    status: 200,
    audit: ['pass_batch.revoked'],
    events: ['pass.revoked'],
    prepare: async (send) => {
      const id = await makePass(send)
      return { path: '/v1/passes/batch_revoke', body: { ids: [id, `pass_${NOWHERE}`] }, id }
    },
    effect: `${PASS} AND status = 'revoked'`,
    once: 1,
  },
  {
    operation: 'simulateInstall',
    status: 200,
    audit: ['install.simulated'],
    events: ['pass.installed'],
    prepare: async (send) => {
      const id = await makePass(send)
      return { path: '/v1/test/passes/simulate_install', body: { pass_id: id, platform: 'apple' }, id }
    },
    effect: `${PASS} AND platforms = '{apple}' AND status = 'installed'`,
    once: 1,
  },
  {
    operation: 'simulateUninstall',
    status: 200,
    audit: ['uninstall.simulated'],
    events: ['pass.uninstalled'],
    prepare: async (send) => {
      const id = await makePass(send)
      const body = { pass_id: id, platform: 'apple' }
      await send('/v1/test/passes/simulate_install', { body })
      return { path: '/v1/test/passes/simulate_uninstall', body, id }
    },
    effect: `${PASS} AND platforms = '{}' AND status = 'installed'`,
    once: 1,
  },
  {
    operation: 'createScan',
    status: 201,
    audit: ['scan.created'],
    events: ['pass.scanned', 'pass.redeemed'],
    prepare: async (send) => {
      const id = await makePass(send, 'coupon')
      return { path: '/v1/scans', body: { pass_id: id, mode: 'redeem' }, id }
    },
    effect: `${SCANNED} AND p.status = 'redeemed' AND s.result = 'accepted'`,
    once: 1,
  },
  {
    operation: 'createScan',
    about: 'of no pass',
    status: 201,
    audit: ['scan.created'],
    events: [],
    prepare: async () => {
      const id = crypto.randomUUID()
      return { path: '/v1/scans', body: { barcode_message: id, mode: 'verify', scanner: id }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.scans
              WHERE tenant_id = $1 AND scanner = $2 AND result = 'unknown' AND pass_id IS NULL`,
    once: 1,
  },
  {
    operation: 'createScan',
    about: 'refused: there is no such pass',
    status: 422,
    audit: ['scan.created'],
    events: [],
    prepare: async () => {
      const id = `pass_${NOWHERE}`
      return { path: '/v1/scans', body: { pass_id: id, mode: 'verify' }, id }
    },
    effect: 'SELECT count(*) AS count FROM sandbox.scans WHERE tenant_id = $1 AND pass_id = $2',
    once: 0,
  },
  {
    operation: 'simulateScan',
    status: 201,
    audit: ['scan.simulated'],
    events: ['pass.scanned'],
    prepare: async (send) => {
      const id = await makePass(send)
      return { path: '/v1/test/passes/simulate_scan', body: { pass_id: id }, id }
    },
    effect: `${SCANNED} AND p.status = 'active' AND s.result = 'accepted'`,
    once: 1,
  },
  {
    operation: 'createToken',
    status: 201,
    audit: ['token.created'],
    events: [],
    prepare: async (send) => {
      const body = { type: 'person', person: PERSON }
      return { path: '/v1/tokens', body, id: await make(send, '/v1/tokens', body) }
    },
    effect: 'SELECT count(*) AS count FROM sandbox.tokens WHERE tenant_id = $1 AND id > $2',
    once: 1,
  },
  {
    operation: 'createCardholder',
    about: 'of a token, which it uses',
    status: 201,
    audit: ['cardholder.created'],
    events: ['cardholder.created'],
    prepare: async (send) => {
      const id = await make(send, '/v1/tokens', { type: 'person', person: PERSON })
      return { path: '/v1/cardholders', body: { token_id: id }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.tokens t JOIN sandbox.cardholders c USING (tenant_id)
              WHERE tenant_id = $1 AND t.id = $2 AND t.used_at IS NOT NULL AND c.id > 'chd_' || right($2, 26)`,
    once: 1,
  },
  {
    operation: 'createCardholder',
    status: 201,
    audit: ['cardholder.created'],
    events: ['cardholder.created'],
    prepare: async () => {
      const id = crypto.randomUUID()
      return { path: '/v1/cardholders', body: { name: id, date_of_birth: '1990-04-12' }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.cardholders
              WHERE tenant_id = $1 AND name = $2 AND status = 'active'`,
    once: 1,
  },
  {
    operation: 'createCardholder',
    about: 'refused: born tomorrow',
    status: 422,
    audit: ['cardholder.created'],
    events: [],
    prepare: async () => {
      const id = crypto.randomUUID()
      return { path: '/v1/cardholders', body: { name: id, date_of_birth: '9999-12-31' }, id }
    },
    effect: 'SELECT count(*) AS count FROM sandbox.cardholders WHERE tenant_id = $1 AND name = $2',
    once: 0,
  },
  {
    operation: 'createCardProgram',
    status: 201,
    audit: ['card_program.created'],
    events: [],
    prepare: async () => {
      const id = crypto.randomUUID()
      return { path: '/v1/card_programs', body: { name: id, kind: 'virtual' }, id }
    },
    effect: 'SELECT count(*) AS count FROM sandbox.card_programs WHERE tenant_id = $1 AND name = $2',
    once: 1,
  },
  {
    operation: 'createCard',
    status: 201,
    audit: ['card.created'],
    events: ['card.created'],
    prepare: async (send) => {
      const id = await makeCardholder(send)
      return { path: '/v1/cards', body: { cardholder_id: id, type: 'virtual' }, id }
    },
    effect: OF_CARDHOLDER,
    once: 1,
  },
  {
    operation: 'createCard',
    about: 'refused: the cardholder is not active',
    status: 409,
    audit: ['card.created'],
    events: [],
    prepare: async (send) => {
      const id = await makeCardholder(send)
      await send(`/v1/cardholders/${id}`, { method: 'PATCH', body: { status: 'inactive' } })
      return { path: '/v1/cards', body: { cardholder_id: id, type: 'virtual' }, id }
    },
    effect: OF_CARDHOLDER,
    once: 0,
  },
  {
    operation: 'activateCard',
    status: 200,
    audit: ['card.activated'],
    events: ['card.updated'],
    prepare: async (send) => {
      const id = await makeCard(send, PHYSICAL)
      return { path: `/v1/cards/${id}/activate`, id }
    },
    effect: `${CARD} AND status = 'active'`,
    once: 1,
  },
  {
    operation: 'freezeCard',
    status: 200,
    audit: ['card.frozen'],
    events: ['card.updated'],
    prepare: async (send) => {
      const id = await makeCard(send)
      return { path: `/v1/cards/${id}/freeze`, id }
    },
    effect: `${CARD} AND frozen`,
    once: 1,
  },
  {
    operation: 'unfreezeCard',
    about: 'refused: it is not frozen',
    status: 409,
    audit: ['card.unfrozen'],
    events: [],
    prepare: async (send) => {
      const id = await makeCard(send)
      return { path: `/v1/cards/${id}/unfreeze`, id }
    },
    effect: `${CARD} AND frozen`,
    once: 0,
  },
  {
    operation: 'cancelCard',
    status: 200,
    audit: ['card.canceled'],
    events: ['card.canceled'],
    prepare: async (send) => {
      const id = await makeCard(send)
      return { path: `/v1/cards/${id}/cancel`, body: { reason: 'lost' }, id }
    },
    effect: `${CARD} AND status = 'canceled' AND cancellation_reason = 'lost'`,
    once: 1,
  },
  {
    operation: 'replaceCard',
    status: 201,
    audit: ['card.replaced'],
    events: ['card.created', 'card.canceled'],
    prepare: async (send) => {
      const id = await makeCard(send)
      return { path: `/v1/cards/${id}/replace`, body: { reason: 'stolen' }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.cards c
               JOIN sandbox.cards o ON o.tenant_id = c.tenant_id AND o.id = c.replacement_for_id
              WHERE c.tenant_id = $1 AND o.id = $2 AND o.replaced_by_id = c.id AND o.status = 'canceled'`,
    once: 1,
  },
  {
    operation: 'createProvisioningPayload',
    status: 201,
    audit: ['provisioning_payload.created'],
    events: [],
    prepare: async (send) => {
      const id = await makeCard(send)
      const body = { wallet: 'google_pay', client_device_id: 'd', client_wallet_account_id: 'w' }
      return { path: `/v1/cards/${id}/provisioning_payloads`, body, id }
    },
    effect:
      'SELECT count(*) AS count FROM sandbox.provisioning_payloads WHERE tenant_id = $1 AND card_id = $2',
    once: 1,
  },
  {
    operation: 'simulateShipping',
    status: 200,
    audit: ['shipping.simulated'],
    events: ['card.shipped'],
    prepare: async (send) => {
      const id = await makeCard(send, PHYSICAL)
      return { path: '/v1/test/cards/simulate_shipping', body: { card_id: id, status: 'shipped' }, id }
    },
    effect: `${CARD} AND shipping->>'status' = 'shipped'`,
    once: 1,
  },
  {
    operation: 'createCardholder',
    about: 'who is on the list',
    status: 201,
    audit: ['cardholder.created'],
    events: ['cardholder.created'],
    prepare: async () => {
      const id = `+1${Math.floor(1e9 + Math.random() * 9e9)}`
      return { path: '/v1/cardholders', body: { name: 'Dmitri Volkov', phone_number: id }, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.cardholders c JOIN sandbox.sanctions_alerts a USING (tenant_id)
              WHERE tenant_id = $1 AND c.phone_number = $2 AND a.cardholder_id = c.id AND c.status = 'pending'`,
    once: 1,
  },
  {
    operation: 'screenCardholder',
    status: 200,
    audit: ['cardholder.screened'],
    events: [],
    prepare: async (send) => {
      const id = await make(send, '/v1/cardholders', { name: 'Ada Moreau' })
      return { path: `/v1/cardholders/${id}/screen`, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.cardholders
              WHERE tenant_id = $1 AND id = $2 AND last_screened_at > created`,
    once: 1,
  },
  {
    operation: 'simulateSanctionsMatch',
    status: 201,
    audit: ['sanctions_match.simulated'],
    events: ['cardholder.sanctions.alert'],
    prepare: async (send) => {
      const id = await make(send, '/v1/cardholders', { name: 'Ada Moreau' })
      return { path: MATCH, body: { cardholder_id: id }, id }
    },
    effect:
      'SELECT count(*) AS count FROM sandbox.sanctions_alerts WHERE tenant_id = $1 AND cardholder_id = $2',
    once: 1,
  },
  {
    operation: 'resolveSanctionsAlert',
    status: 200,
    audit: ['sanctions_alert.resolved'],
    events: ['cardholder.sanctions.resolved'],
    prepare: async (send) => {
      const id = await make(send, '/v1/cardholders', { name: 'Dmitri Volkov' })
      const [alert] = (await send(`/v1/sanctions_alerts?cardholder_id=${id}`)).body.data
      const body = { resolution: 'confirmed', note: 'The same.' }
      return { path: `/v1/sanctions_alerts/${alert.id}/resolve`, body, id }
    },
    effect: `SELECT count(*) AS count FROM sandbox.cardholders c JOIN sandbox.sanctions_alerts a USING (tenant_id)
              WHERE tenant_id = $1 AND c.id = $2 AND a.cardholder_id = c.id AND c.status = 'blocked'
                AND a.status = 'confirmed'`,
    once: 1,
  },
  {
    operation: 'createWebhookEndpoint',
    status: 201,
    audit: ['webhook_endpoint.created'],
    events: [],
    prepare: async () => {
      const id = `${HOOKS}/${crypto.randomUUID()}`
      return { path: '/v1/webhook-endpoints', body: { url: id, enabled_events: ['*'] }, id }
    },
    effect: 'SELECT count(*) AS count FROM sandbox.webhook_endpoints WHERE tenant_id = $1 AND url = $2',
    once: 1,
  },
  {
    operation: 'createWebhookEndpoint',
    about: 'refused: it leads into a private network',
    status: 422,
    audit: ['webhook_endpoint.created'],
    events: [],
    prepare: async () => {
      const id = 'https://10.0.0.1/'
      return { path: '/v1/webhook-endpoints', body: { url: id, enabled_events: ['*'] }, id }
    },
    effect: 'SELECT count(*) AS count FROM sandbox.webhook_endpoints WHERE tenant_id = $1 AND url = $2',
    once: 0,
  },
  {
    operation: 'rotateWebhookEndpointSecret',
    status: 200,
    audit: ['webhook_endpoint_secret.rotated'],
    events: [],
    prepare: async (send) => {
      const id = await makeEndpoint(send)
      return { path: `/v1/webhook-endpoints/${id}/rotate_secret`, id }
    },
    effect: `SELECT json_array_length(retired_secrets) AS count FROM sandbox.webhook_endpoints
             WHERE tenant_id = $1 AND id = $2`,
    once: 1,
  },
  {
    operation: 'rotateAuthorizationEndpointSecret',
    status: 200,
    audit: ['authorization_endpoint_secret.rotated'],
    events: [],
    prepare: async (send) => {
      await send('/v1/authorization_endpoint', { method: 'DELETE' })
      await send('/v1/authorization_endpoint', { method: 'PUT', body: { url: HOOKS } })
      return { path: '/v1/authorization_endpoint/rotate_secret', id: '' }
    },
    effect: `SELECT coalesce(sum(json_array_length(retired_secrets)), 0)::integer AS count
             FROM sandbox.authorization_endpoints WHERE tenant_id = $1 AND $2 = ''`,
    once: 1,
  },
  {
    operation: 'testWebhookEndpoint',
    status: 201,
    audit: ['webhook_endpoint.tested'],
    events: ['webhook_endpoint.test'],
    prepare: async (send) => {
      const id = await makeEndpoint(send)
      return { path: `/v1/webhook-endpoints/${id}/test`, id }
    },
    effect: 'SELECT count(*) AS count FROM sandbox.events WHERE tenant_id = $1 AND audience_endpoint_id = $2',
    once: 1,
  },
  {
    operation: 'skipBlockedEvent',
    status: 200,
    audit: ['webhook_endpoint.skipped'],
    events: [],
    prepare: async (send) => {
      const id = await make(send, '/v1/webhook-endpoints', {
        url: HOOKS,
        enabled_events: ['treasury_report.failed'],
        delivery: 'fifo',
      })
      const endpoint = `/v1/webhook-endpoints/${id}`
      await send(endpoint, { method: 'PATCH', body: { status: 'disabled' } })
      const { body } = await send(`${endpoint}/test`, { method: 'POST' })
      return { path: `${endpoint}/skip`, body: { event_id: body.id }, id }
    },
    effect:
      'SELECT count(*) AS count FROM sandbox.webhook_endpoints WHERE tenant_id = $1 AND id = $2 AND settled > 0',
    once: 1,
  },
  {
    operation: 'recoverWebhookEndpoint',
    status: 201,
    audit: ['webhook_recovery.created'],
    events: [],
    prepare: async (send) => {
      const id = await makeEndpoint(send)
      return { path: `/v1/webhook-endpoints/${id}/recover`, body: { since: '2020-01-01T00:00:00Z' }, id }
    },
    effect:
      'SELECT count(*) AS count FROM sandbox.webhook_recoveries WHERE tenant_id = $1 AND endpoint_id = $2',
    once: 1,
  },
  {
    operation: 'cancelWebhookRecovery',
    status: 200,
    audit: ['webhook_recovery.canceled'],
    events: [],
    prepare: async (send) => {
      const endpoint = `/v1/webhook-endpoints/${await makeEndpoint(send)}`
      const id = await make(send, `${endpoint}/recover`, { since: '2020-01-01T00:00:00Z' })
      return { path: `${endpoint}/recoveries/${id}/cancel`, id }
    },
    effect:
      "SELECT count(*) AS count FROM sandbox.webhook_recoveries WHERE tenant_id = $1 AND id = $2 AND status = 'canceled'",
    once: 1,
  },
  {
    operation: 'retryDeliveryAttempt',
    status: 202,
    audit: ['delivery_attempt.retried'],
    events: [],
    prepare: async (send, { database, space }) => {
      const endpoint = `/v1/webhook-endpoints/${await makeEndpoint(send)}`
      await send(endpoint, { method: 'PATCH', body: { status: 'disabled' } })
      await send(`${endpoint}/test`, { method: 'POST' })
      for (const environment of ENVIRONMENTS) await planAll(database[environment], space)
      const id = (await send(`${endpoint}/delivery-attempts`)).body.data[0].id
      return { path: `${endpoint}/delivery-attempts/${id}/retry`, id }
    },
    effect: 'SELECT count(*) AS count FROM sandbox.webhook_ready WHERE tenant_id = $1 AND attempt_id = $2',
    once: 1,
  },
  {
    operation: 'rotateCredentials',
    status: 200,
    audit: ['key.rotated', 'credentials.rotated'],
    events: [],
    prepare: async (_send, { database, tenantId }) => {
      const text = `SELECT id FROM control.keys WHERE tenant_id = $1 AND retired_at IS NULL AND kind = 'secret'`
      const { rows } = await database.control.query<{ id: string }>({ text }, [tenantId])
      return { path: '/v1/account/rotate_credentials', id: rows[0]!.id }
    },
    effect: 'SELECT count(*) AS count FROM control.keys WHERE tenant_id = $1 AND replaces_id = $2',
    once: 1,
    factor: true,
  },
  {
    operation: 'wipeSandbox',
    status: 200,
    audit: ['sandbox.wiped'],
    events: [],
    prepare: async (send) => {
      const id = await makePass(send)
      return { path: '/v1/account/wipe_sandbox', body: { confirm: 'wipe' }, id }
    },
    // Once more than the round before: the wiped space with the pass in it is the one that was wiped last.
    effect: `SELECT count(*) AS count FROM sandbox.passes p
               JOIN sandbox.wiped_spaces w ON w.tenant_id = p.tenant_id
               JOIN control.tenants t ON p.tenant_id = concat_ws('.', t.id, nullif(t.sandbox_wipes - 1, 0))
              WHERE t.id = $1 AND p.id = $2`,
    once: 1,
    factor: true,
  },
  ...MONEY_POSTS,
  ...PAYOUT_POSTS,
  ...CONTROL_POSTS,
  ...messagePosts(makePass),
  ...SANDBOX_POSTS,
  ...settlementPosts(makeCleared),
]

/** POSTs with a handler that the story does not tell, and why. */
export const UNTOLD: Readonly<Record<string, string>> = {
  createPromotion: 'live alone: promotion-crash.test.ts tells of it',
}
