/** One walk through everything that sends statements: what the tests of statements look at. */

import { setTimeout as wait } from 'node:timers/promises'
import { TOTP } from 'otpauth'
import { pino } from 'pino'
import { expect } from 'vitest'
import { current, versions } from '../../generated/versions.ts'
import { wipeWorker } from '../../runtime/account/account/wipe-job.ts'
import { createUser } from '../../runtime/account/members/users.ts'
import { addToTotals } from '../../runtime/account/totals/adding.ts'
import { totalsWorker } from '../../runtime/account/totals/job.ts'
import { readTotalsPosition } from '../../runtime/account/totals/reading.ts'
import { readAnswer } from '../../runtime/api/idempotency.ts'
import { addRequests, readRequest } from '../../runtime/api/request-log-queries.ts'
import { createCardKeys } from '../../runtime/cards/card-keys/card-keys.ts'
import { createCardDirectory } from '../../runtime/cards/card-keys/directory.ts'
import { listingWorker } from '../../runtime/cards/card-keys/listing.ts'
import { reseal } from '../../runtime/cards/card-keys/rotation.ts'
import { cardholderScreeningWorker } from '../../runtime/cards/cardholders/screening-job.ts'
import { lockCardsOf, lockFirstCards } from '../../runtime/cards/cards/queries.ts'
import { abandonedDecisionWorker } from '../../runtime/cards/decisions/abandoned-job.ts'
import { forgetRequest } from '../../runtime/cards/decisions/queries.ts'
import { disputeExpiryWorker } from '../../runtime/cards/disputes/expiry-job.ts'
import { payloadWorker } from '../../runtime/cards/provisioning/stand-in-job.ts'
import { backtestWorker } from '../../runtime/cards/spending-control-backtests/job.ts'
import { holdExpiryWorker } from '../../runtime/cards/transactions/expiry-job.ts'
import { insertWalletToken } from '../../runtime/cards/wallet-tokens/queries.ts'
import { deleteView, insertView, listViews, renameView } from '../../runtime/dashboard/engine/view-queries.ts'
import { readGuide } from '../../runtime/dashboard/pages/home/guide.ts'
import { readHealth } from '../../runtime/dashboard/pages/home/health.ts'
import { readOverview } from '../../runtime/dashboard/pages/home/overview.ts'
import { periodOf } from '../../runtime/dashboard/pages/home/period.ts'
import { readTasks } from '../../runtime/dashboard/pages/home/tasks.ts'
import { readPassEvents } from '../../runtime/dashboard/pages/passes/history-queries.ts'
import {
  findPickable,
  PICKABLE_PREFIXES,
  readPickable,
} from '../../runtime/dashboard/pages/pickers/pickable-queries.ts'
import { findNamed, findRecent } from '../../runtime/dashboard/pages/search/name-queries.ts'
import { readAccountNames, readNames } from '../../runtime/dashboard/pages/search/names-of-ids.ts'
import { countByStatus } from '../../runtime/dashboard/pages/templates/counts.ts'
import type { Database } from '../../runtime/database/database.ts'
import type { Pool } from '../../runtime/database/pool/pool.ts'
import { readRevision } from '../../runtime/database/revision.ts'
import { retain } from '../../runtime/events/delivery/retention-job.ts'
import { createWorker } from '../../runtime/events/delivery/worker.ts'
import { readStoredEvent } from '../../runtime/events/emit/queries.ts'
import { connectWakeUpChannel, createWakeUps } from '../../runtime/events/emit/wake-ups.ts'
import { balanceAlertWorker } from '../../runtime/money/balance/alert-job.ts'
import { holdTotalsWorker } from '../../runtime/money/balance/hold-totals-job.ts'
import { holdUpTransfer, readTransfer } from '../../runtime/money/chain/transfer-queries.ts'
import { USDC_CHAINS } from '../../runtime/money/chain/usdc-chains.ts'
import { activationWorker } from '../../runtime/money/destinations/activation-job.ts'
import { destinationScreeningWorker } from '../../runtime/money/destinations/screening-job.ts'
import { bankWorker } from '../../runtime/money/payouts/bank-job.ts'
import { holdUpBankTransfer } from '../../runtime/money/payouts/bank-queries.ts'
import { payOutSettlement } from '../../runtime/money/payouts/settled.ts'
import { openTransferListener } from '../../runtime/money/payouts/transfer-listener.ts'
import { reportExpiryWorker, reportWorker } from '../../runtime/money/reports/job.ts'
import { failReport } from '../../runtime/money/reports/work-queries.ts'
import { writeLines } from '../../runtime/money/settlement-lines/lines.ts'
import { readSettlementsOf } from '../../runtime/money/settlement-lines/of-sources.ts'
import { settlementWorker } from '../../runtime/money/settlements/job.ts'
import { rotateCardKey } from '../../runtime/operator/card-keys.ts'
import { walkMessages } from '../../runtime/passes/pass-messages/work-queries.ts'
import { passExpiryWorker } from '../../runtime/passes/passes/expiry-job.ts'
import { claimCallback } from '../../runtime/passes/passes/google-callbacks.ts'
import { readChanged, readPassState } from '../../runtime/passes/passes/state.ts'
import { resendTemplate } from '../../runtime/passes/templates/wallet-queue.ts'
import { openPassTokens } from '../../runtime/passes/wallets/render/pass-tokens.ts'
import { createFollower } from '../../runtime/passes/wallets/sync/google/follower.ts'
import type { Environment } from '../../runtime/platform/environment.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { createSeals } from '../../runtime/platform/secrets.ts'
import { sweep } from '../../runtime/process/cleanup-job.ts'
import { openReportLinks } from '../../runtime/tenants/addresses/report-links.ts'
import { readPin } from '../../runtime/tenants/admin/pins.ts'
import { verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { createTenantNames } from '../../runtime/tenants/keys/tenant-names.ts'
import { createUsageMeter } from '../../runtime/tenants/usage/meter.ts'
import { createLeaseClock } from '../../runtime/work/lease-clock.ts'
import { createSetAside } from '../../runtime/work/set-aside.ts'
import { countSetAside } from '../../runtime/work/set-aside-queries.ts'
import { makeTemplate, NO_TEMPLATE, TEMPLATE } from '../api/fixtures.ts'
import type { Post } from '../faults/post.ts'
import { makeEndpoint, POSTS } from '../faults/posts.ts'
import { issueToken } from '../support/access-tokens.ts'
import { makePayable } from '../support/payable.ts'
import { until } from '../support/programs.ts'
import { makeKey, makeTenant, type Send, speak, type TestService } from '../support/service.ts'
import { strictLog } from '../support/strict-log.ts'
import { writtenLists } from './lists.ts'
import type { Recorder } from './recorder.ts'
import { walkTransfers } from './walk-chain.ts'
import { walkDevices } from './walk-devices.ts'
import { walkMessagesOf } from './walk-messages.ts'
import { walkNetwork } from './walk-network.ts'
import { deliverInOrder } from './walk-webhooks.ts'

/** A service whose statements are recorded. */
export interface Walker {
  readonly service: TestService
  readonly recorder: Recorder
}

/** Lists with every filter that has a condition of its own. */
const LISTS = [
  '/v1/passes?limit=1&order=asc&status=issued&include_archived=true',
  '/v1/passes?status=expired&created[gte]=2026-01-01&created[lt]=2027-01-01',
  '/v1/passes/count?status=active',
  '/v1/pass_templates?kind=loyalty&status=active&created_after=2026-01-01',
  '/v1/audit_log?limit=2&action=pass.created&actor_id=key&target_id=x',
  '/v1/request_logs?status=200&path=/v1/me&method=GET&created[gte]=2026-01-01',
  '/v1/events?type=pass.created&created[gte]=2026-01-01',
  '/v1/webhook-endpoints?status=enabled&created[lt]=2027-01-01',
  '/v1/scans?result=accepted&order=asc&created[gte]=2026-01-01',
  '/v1/balance',
  '/v1/balance?at=2026-05-01',
  '/v1/balance_alert',
  '/v1/balance_entries?kind=funding&created[gte]=2026-01-01',
  '/v1/balance_entries?account=settlement_payable&source_id=po_00000000000000000000000000',
  '/v1/cardholders?type=individual&status=active&created[gte]=2026-01-01',
  '/v1/cards?status=active&type=virtual&created[gte]=2026-01-01',
  '/v1/merchant_categories',
  '/v1/settlements?status=settled&created[gte]=2026-01-01',
  '/v1/disputes?status=unsubmitted&created[gte]=2026-01-01',
  '/v1/card_transactions?status=authorized&category_code=5812&created[gte]=2026-01-01',
  '/v1/payout_destinations?status=active&type=usdc_address&created[gte]=2026-01-01',
  '/v1/payouts?status=paid&created[gte]=2026-01-01',
  '/v1/treasury_reports?created[gte]=2026-01-01',
  '/v1/payouts?destination_id=pod_00000000000000000000000000',
  '/v1/payouts?settlement_id=stl_00000000000000000000000000&status=paid',
  '/v1/wallet_tokens?card_id=card_00000000000000000000000000',
  '/v1/sanctions_alerts?status=open&created[gte]=2026-01-01',
  '/v1/pass_messages?status=sent&created[gte]=2026-01-01',
  '/v1/pass_message_batches?status=completed&created[gte]=2026-01-01',
  '/v1/me',
]

/** All of it, by tenants of both environments and one whose sandbox was wiped; gives where the latter's data is by its id. */
export async function walkAll(walker: Walker): Promise<ReadonlyMap<string, string>> {
  const wiped = await makeTenant(walker.service, 'enterprise')
  const space = await wipeSandbox(walker, wiped)
  await tour(walker, 'sandbox', wiped, space)
  const trial = await makeTenant(walker.service, 'trial')
  await tour(walker, 'live', trial, trial, 'trial')
  await runBackground(walker)
  await runWorker(walker, 'sandbox')
  await runWorker(walker, 'live')
  await runGoogle(walker, 'sandbox', space)
  await runGoogle(walker, 'live', trial)
  return new Map([[wiped, space]])
}

/** Wipes the sandbox of a new tenant that has something in it; gives the space that its data is in from then on. */
export async function wipeSandbox({ service }: Walker, tenantId: string): Promise<string> {
  const { secret } = await makeKey(service, tenantId, { environment: 'sandbox', scope: 'admin' })
  const user = await createUser(service.operator, { tenantId, email: 'eve@example.com', role: 'owner' })
  const send = speak(service.urls.sandbox, { secret, version: current })
  await makeTemplate(send)
  await makeEndpoint(send)
  const code = new TOTP({ secret: user.totp_secret }).generate()
  const call = { body: { confirm: 'wipe' }, headers: { 'Service-Factor': code } }
  expect((await send('/v1/account/wipe_sandbox', call)).status).toBe(200)
  return `${tenantId}.1`
}

/** Everything that requests of a tenant on the plan can do. @param space where its data of the environment is. */
export async function tour(
  { service, recorder }: Walker,
  environment: Environment,
  tenantId: string,
  space: string = tenantId,
  plan: string = 'enterprise',
): Promise<void> {
  const { secret } = await makeKey(service, tenantId, { environment, scope: 'admin' })
  const user = await createUser(service.operator, { tenantId, email: 'ada@example.com', role: 'owner' })
  await verifyTenant(service.operator, tenantId)
  recorder.actFor(tenantId)
  const send = speak(service.urls[environment], { secret, version: current })
  const member = { tenantId, memberId: user.id, address: '127.0.0.1' }
  expect((await service.operate(member, environment, 'getMe')).status).toBe(200)
  const token = await issueToken(service.database, member, environment)
  expect((await speak(service.urls[environment], { secret: token.secret })('/v1/me')).status).toBe(200)
  for (const { prepare, status, factor } of postsOf(environment, plan)) {
    recorder.actFor(undefined)
    await service.database.control.query({ text: 'DELETE FROM control.totp_uses' })
    recorder.actFor(tenantId)
    const { path, body } = await prepare(send, { database: recorder.database, tenantId, space })
    const code = new TOTP({ secret: user.totp_secret }).generate()
    const headers = { 'Idempotency-Key': crypto.randomUUID(), ...(factor && { 'Service-Factor': code }) }
    const call = { method: 'POST', headers, ...(body === undefined ? {} : { body }) }
    expect([path, (await send(path, call)).status]).toEqual([path, status])
    await send(path, call)
    await send(path, { ...call, headers: { ...headers, 'Idempotency-Key': crypto.randomUUID() } })
    // Or the authorizations that follow would be asked about.
    if (path.startsWith('/v1/authorization_endpoint'))
      await send('/v1/authorization_endpoint', { method: 'DELETE' })
  }
  await lookAround(send, service.database[environment], space, environment, plan)
  if (environment === 'live') await promote(service, tenantId, send)
  await closeDay({ service, recorder }, environment, send, space)
  const expires_at = new Date(service.clock.now + 60_000).toISOString()
  await send('/v1/passes', { body: { template_id: await makeTemplate(send), expires_at } })
  // The passes are counted here, and what follows is added to the counts in the background.
  await recorder.database[environment].transaction((tx) =>
    addToTotals(tx, space, 2000, service.clock.machine()),
  )
  await walkDevices(service, send, space, environment)
  await showHolders({ service, recorder }, environment, send, space)
  // Later than the reports, which have no entry for the lines that `closeDay` made up.
  await walkNetwork(service, send, environment)
  if (environment === 'sandbox') await watchEvents({ service, recorder }, secret)
  await comeBackLater(service, send, space, service.database[environment])
  const [event] = (await send('/v1/events?limit=1')).body.data
  expect(await readRequest(service.database[environment], space, 'req_x')).toBeUndefined()
  expect(await readStoredEvent(service.database[environment], space, event.id)).toMatchObject({
    id: event.id,
  })
  for (const program of [null, 'cprg_x'])
    await lockFirstCards(service.database[environment], space, program, 1)
  await findNamed(service.database[environment], space, 'ada')
  await findRecent(service.database[environment], space, 'ada')
  await readNames(service.database[environment], space, [newId('card')])
  await readHome(service, environment, tenantId, space)
  await readAccountNames(service.database.control, tenantId, [newId('mem')])
  const viewed = { tenantId, memberId: user.id, environment, list: 'passes' }
  await insertView(service.database.control, viewed, { name: 'Issued', query: 'status=issued' })
  await renameView(service.database.control, viewed, 'Issued', 'New')
  expect(await listViews(service.database.control, viewed)).toHaveLength(1)
  await deleteView(service.database.control, viewed, 'New')
  for (const prefix of PICKABLE_PREFIXES) {
    for (const text of ['', `${prefix}_`, ...(prefix === 'card' ? ['ada'] : [])])
      await findPickable(service.database[environment], space, prefix, text, '', async () => [newId('chd')])
    await readPickable(service.database[environment], space, prefix, [newId(prefix)])
  }
  await countByStatus(service.database[environment], space, newId('tpl'), 10)
  const latest = { created: service.clock.now, id: '~' }
  await readPassEvents(service.database[environment], space, newId('pass'), latest, 20)
  await walkTransfers(recorder.database[environment], space, service.clock.now)
  recorder.actFor(undefined)
}

/** What the home page of the dashboard shows. */
async function readHome(
  { database, clock }: TestService,
  environment: Environment,
  tenantId: string,
  space: string,
): Promise<void> {
  const db = database[environment]
  await readTotalsPosition(db, space)
  await readOverview(db, space, periodOf(30, clock.now))
  await readHealth(db, space, clock.now)
  await readTasks(db, space, clock.now)
  await readGuide(database.control, db, tenantId, space)
}

/** But for wipes: what a tenant has is looked at afterwards. */
function postsOf(environment: Environment, plan: string): readonly Post[] {
  const { operations } = versions.find(({ name }) => name === current)!
  const there = operations.filter(
    ({ extensions }) =>
      (extensions.environment ?? environment) === environment && (extensions.plan ?? plan) === plan,
  )
  const ids = new Set(there.map(({ id }) => id))
  return POSTS.filter(
    ({ operation, environment: only = environment }) =>
      operation !== 'wipeSandbox' && ids.has(operation) && only === environment,
  )
}

/** A day's settlement is closed by the first line of the next day. */
async function closeDay({ service, recorder }: Walker, environment: Environment, send: Send, space: string) {
  const line = { type: 'adjustment', amount: 1, source_id: 'walk', ledger_entry_id: newId('len') } as const
  for (const days of [0, 1]) {
    await recorder.database[environment].transaction((db) => {
      const place = { db, space, events: { emit: () => undefined } }
      return writeLines(place, [line], service.clock.now + days * 86_400_000, undefined)
    })
  }
  if (environment === 'sandbox') {
    const { status } = await send('/v1/test/settlements/advance_clock', { body: {} })
    expect(status).toBe(200)
  }
  const [{ id }] = (await send('/v1/settlements?limit=1')).body.data
  expect((await send(`/v1/settlements/${id}`)).status).toBe(200)
  for (const filter of ['', '?type=adjustment', '?source_id=walk&type=adjustment']) {
    expect((await send(`/v1/settlements/${id}/lines${filter}`)).status).toBe(200)
  }
  expect(await readSettlementsOf(recorder.database[environment], space, ['walk'])).toHaveLength(2)
}

/** A template and an endpoint go to live: planned, copied, and asked for again. */
async function promote(service: TestService, tenantId: string, live: Send): Promise<void> {
  const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
  const sandbox = speak(service.urls.sandbox, { secret, version: current })
  const program = await sandbox('/v1/card_programs', { body: { name: 'Walk', kind: 'virtual' } })
  const sources = [
    ['pass_template', await makeTemplate(sandbox)],
    ['card_program', program.body.id],
    ['webhook_endpoint', await makeEndpoint(sandbox)],
  ] as const
  const headers = { 'Service-Sandbox-Authorization': `Bearer ${secret}` }
  for (const [resource_type, id] of sources) {
    const order = { resource_type, sandbox_ids: [id] }
    const { body: planned } = await live('/v1/promotions', { body: { ...order, dry_run: true }, headers })
    for (const body of [{ ...order, plan_id: planned.id }, order]) {
      const made = await live('/v1/promotions', { body, headers })
      expect([made.status, made.text]).toEqual([201, made.text])
      expect((await live(`/v1/promotions/${made.body.id}`)).status).toBe(200)
    }
  }
}

async function lookAround(
  send: Send,
  pool: Pool,
  space: string,
  environment: Environment,
  plan: string,
): Promise<void> {
  for (const path of LISTS) expect([path, (await send(path)).status]).toEqual([path, 200])
  for (const path of writtenLists(environment)) {
    if (path === '/v1/authorization_decisions' && plan !== 'enterprise') continue
    const answer = await send(`${path}?limit=1`)
    expect([path, answer.status, answer.text]).toEqual([path, 200, answer.text])
    const { next_cursor, data } = answer.body
    if (next_cursor === null) continue
    await send(`${path}?starting_after=${next_cursor}`)
    await send(`${path}?ending_before=${next_cursor}`)
    if (path === '/v1/audit_log') continue
    await send(`${path}/${data[0].id}`)
    await send(`${path}/${data[0].id}`, { method: 'PATCH', body: { metadata: { a: '1' } } })
  }
  const [destination] = (await send('/v1/payout_destinations?limit=1')).body.data
  for (const value of destination ? [false, true] : [])
    await send(`/v1/payout_destinations/${destination.id}`, { method: 'PATCH', body: { default: value } })
  const [dispute] = (await send('/v1/disputes?status=unsubmitted&limit=1')).body.data
  if (dispute) await send(`/v1/disputes/${dispute.id}`, { method: 'PATCH', body: { evidence: null } })
  const endpoint = `/v1/webhook-endpoints/${(await send('/v1/webhook-endpoints')).body.data[0].id}`
  const [attempt] = (await send(`${endpoint}/delivery-attempts`)).body.data
  await send(`${endpoint}/delivery-attempts?status=pending&event_id=${attempt.event_id}`)
  await send(`${endpoint}/delivery-attempts/${attempt.id}`)
  await send(`/v1/events/${attempt.event_id}`)
  await send(`${endpoint}/delivery-attempts?outcome=given_up`)
  await send(endpoint, { method: 'DELETE' })
  await deliverInOrder(send, pool, space, attempt.event_id)
  // What follows from it is not made at once: it is canceled when it is planned.
  const disabled = `/v1/webhook-endpoints/${await makeEndpoint(send)}`
  await send(disabled, { method: 'PATCH', body: { status: 'disabled' } })
  await send(`${disabled}/test`, { method: 'POST' })
  if (environment === 'sandbox') {
    const faults = '/v1/test/faults'
    await send(faults, { method: 'PUT', body: { error_percent: 100 } })
    expect([(await send('/v1/me')).status, (await send('/v1/me')).status]).toEqual([500, 200])
    expect((await send(faults, { method: 'DELETE' })).status).toBe(200)
    await walkSandboxes(send)
  }
  await send('/v1/account/billing', { method: 'PATCH', body: { billing_email: 'a@example.com' } })
  if (plan === 'enterprise') {
    await askNobody(send)
    expect((await send('/v1/authorization_endpoint')).status).toBe(200)
    expect((await send('/v1/authorization_endpoint', { method: 'DELETE' })).status).toBe(200)
  }
}

/** A sandbox with failures, a wipe and a snapshot of its own; then what is deleted. */
async function walkSandboxes(send: Send): Promise<void> {
  const { body: sandbox } = await send('/v1/sandboxes', { body: { name: 'Walk' } })
  const path = `/v1/sandboxes/${sandbox.id}`
  expect((await send(path)).status).toBe(200)
  expect((await send(path, { method: 'PATCH', body: { name: 'Walked' } })).status).toBe(200)
  expect((await send(`${path}/keys`, { body: {} })).status).toBe(201)
  const { body: snapshot } = await send(`${path}/snapshots`, { body: { name: 'Walk' } })
  for (const list of ['snapshots', `snapshots/${snapshot.id}`]) {
    expect((await send(`${path}/${list}`)).status).toBe(200)
  }
  expect((await send(`${path}/snapshots/${snapshot.id}/restore`, { body: {} })).status).toBe(409)
  expect((await send(`${path}/snapshots/${snapshot.id}`, { method: 'DELETE' })).status).toBe(200)
  expect((await send(path, { method: 'DELETE' })).status).toBe(200)
}

/** The tenant is asked at an address that no name leads to. */
async function askNobody(send: Send): Promise<void> {
  const setting = { url: 'https://asked.example.com/', default_action: 'approve' }
  await send('/v1/authorization_endpoint', { method: 'PUT', body: setting })
  await send('/v1/balance_alert', { method: 'PUT', body: { threshold: 1e15 } })
  const [card] = (await send('/v1/cards?status=active')).body.data
  const body = { card_id: card.id, amount: 1, merchant: { name: 'Diner', category_code: '5812' } }
  const made = await send('/v1/test/cards/simulate_authorization', { body })
  const { status } = await send(`/v1/authorization_decisions/${made.body.decision_id}`)
  expect([made.status, status]).toEqual([201, 200])
}

/** What is shown of a pass without a key. */
async function showHolders(
  { service, recorder }: Walker,
  environment: Environment,
  send: Send,
  space: string,
): Promise<void> {
  const place = { space, passId: (await send('/v1/passes?limit=1')).body.data[0].id }
  const { clock, database, urls } = service
  const sources = {
    baseUrl: urls[environment],
    passTokens: openPassTokens(database.pepper)[environment],
    tenantNames: createTenantNames(recorder.database.control),
  }
  const db = recorder.database[environment]
  const state = await readPassState(db, place, sources, clock.now)
  expect(await readChanged(db, place, clock.now)).toBe(state?.changed)
  const [{ id, cardholder_id }] = (await send('/v1/cards?type=virtual&limit=1')).body.data
  expect((await send(`/v1/cards/${id}/details`)).status).toBe(200)
  const payloads = `/v1/cards/${id}/provisioning_payloads`
  const device = { client_device_id: 'd', client_wallet_account_id: 'w' }
  const payload = await send(payloads, { body: { wallet: 'google_pay', ...device } })
  expect((await send(`${payloads}/${payload.body.id}`)).status).toBe(200)
  expect((await send(`${payloads}?limit=1`)).status).toBe(200)
  await insertWalletToken(recorder.database[environment], space, {
    ...{ id: newId('wtk'), card_id: id, provisioning_payload_id: payload.body.id, wallet: 'google_pay' },
    ...{ status: 'active', created: service.clock.now, updated: service.clock.now },
  })
  const token = `/v1/wallet_tokens/${(await send('/v1/wallet_tokens?limit=1')).body.data[0].id}`
  await send(token)
  await send(token, { method: 'PATCH', body: { status: 'suspended' } })
  await recorder.database[environment].transaction((tx) => lockCardsOf(tx, space, cardholder_id))
  await recorder.database[environment].transaction((tx) =>
    claimCallback(tx, space, crypto.randomUUID(), Date.now() + 60_000, Date.now()),
  )
  await forgetRequest(db, space, crypto.randomUUID())
  await followPayout({ service, recorder }, environment, send, space)
  await makeEveryReport({ service, recorder }, environment, send)
  if (environment === 'sandbox') await tryControls({ service, recorder }, send)
  await walkMessagesOf({ service, recorder }, environment, send, space)
}

/** A bank takes a payment, and has made it at the next look. */
async function payDollars({ service, recorder }: Walker, send: Send, space: string): Promise<void> {
  const account = {
    holder_name: 'Ada Moreau',
    account_number: '000123456789',
    routing_number: '110000000',
    country: 'US',
  }
  const token = (await send('/v1/tokens', { body: { type: 'bank_account', bank_account: account } })).body.id
  const body = { type: 'bank_account', token_id: token, holder_name: 'Ada Moreau' }
  const { id } = (await send('/v1/payout_destinations', { body })).body
  await makePayable(service.database, 'live', space, id, 2, service.clock.now)
  const order = { amount: 2, currency: 'usd', destination_id: id }
  expect((await send('/v1/payouts', { body: order })).status).toBe(201)
  const payment = { id: 'pay_1', status: 'settled', failure_code: 'rejected' } as const
  const answer = async () => ({ outcome: 'payment', payment }) as const
  await bankWorker({
    log: strictLog,
    database: recorder.database,
    clock: service.clock,
    wakeUpChannel: { publish: () => {} },
    seals: createSeals(service.database.pepper),
    bank: { pay: answer, find: answer },
    sanctions: service.sanctions,
  }).runOnce()
}

/** A settlement pays out, and the chain tells what becomes of that. */
async function followPayout(
  { service, recorder }: Walker,
  environment: Environment,
  send: Send,
  space: string,
): Promise<void> {
  const address = `${USDC_CHAINS[environment].id}:0x52908400098527886E0F7030069857D2E4169EE7`
  const destination = { type: 'usdc_address', address, holder_name: 'Ada Moreau', default: true }
  const { id } = (await send('/v1/payout_destinations', { body: destination })).body
  await makePayable(service.database, environment, space, id, 2, service.clock.now)
  const { now } = service.clock
  const net = { settlementId: newId('stl'), amount: 2, currency: 'usd' } as const
  const payoutId = await recorder.database[environment].transaction((db) =>
    payOutSettlement({ db, space, events: { emit: () => undefined } }, net, service.sanctions.list(), now),
  )
  if (environment === 'live') await payDollars({ service, recorder }, send, space)
  const { sanctions } = service
  const parts = { database: recorder.database, wakeUpChannel: { publish: () => {} }, sanctions }
  const listener = await openTransferListener(parts, environment, space)
  const change = { state: 'paid', chain: 'eip155:1', hash: '0x', confirmations: 1 } as const
  await recorder.database[environment].transaction(async (db) => {
    expect(await listener.signable(db, payoutId!)).toBe(true)
    await listener.changed(db, payoutId!, change, now)
  })
}

/** A draft is kept, changed, tried on what was authorized, and archived. */
async function tryControls({ service, recorder }: Walker, send: Send): Promise<void> {
  const { clock } = service
  const controls = { spending_controls: { blocked_categories: ['5812'] } }
  const path = '/v1/spending_control_drafts'
  const [card] = (await send('/v1/cards?status=active')).body.data
  const verified = { card_id: card.id, amount: 0, merchant: { name: 'Diner', category_code: '5812' } }
  const limits = { merchant_limits: [{ amount: 1000, interval: 'monthly' }] }
  await send(`/v1/cards/${card.id}`, { method: 'PATCH', body: { spending_controls: limits } })
  await send('/v1/test/cards/simulate_authorization', { body: verified })
  const { id } = (await send(path, { body: { name: 'Walk', ...controls } })).body
  await send(`${path}/${id}`, {
    method: 'PATCH',
    body: { spending_controls: { max_authorization_count: 1 } },
  })
  clock.now += 1
  const interval = {
    interval_start: new Date(clock.now - 86_400_000).toISOString(),
    interval_end: new Date(clock.now).toISOString(),
  }
  const { body } = await send(`${path}/${id}/backtests`, { body: interval })
  const parts = {
    ...service,
    database: recorder.database,
    wakeUpChannel: { publish: () => {} },
    log: strictLog,
  }
  const read = async () => (await send(`/v1/spending_control_backtests/${body.id}`)).body
  // Each round performs the oldest of the tenant.
  while ((await read()).status === 'pending') await backtestWorker(parts).runOnce()
  expect((await read()).result.approved_to_declined.count).toBeGreaterThan(0)
  expect((await send(`${path}/${id}/shadow`, { body: {} })).status).toBe(200)
  const paid = { ...verified, amount: 1 }
  for (let count = 0; count < 2; count += 1)
    await send('/v1/test/cards/simulate_authorization', { body: paid })
  expect((await send(`${path}/${id}/shadow`)).body.result.approved_to_declined.count).toBeGreaterThan(0)
  expect((await send(`${path}/${id}/end_shadow`, { body: {} })).status).toBe(200)
  for (const list of ['versions', 'flips']
    .map((each) => `${path}/${id}/${each}`)
    .concat(`/v1/spending_control_backtests/${body.id}/flips`))
    expect((await send(list)).status).toBe(200)
  expect((await send(`${path}/${id}/archive`, { body: {} })).status).toBe(200)
}

/** Reports of every type are made, read and forgotten. */
async function makeEveryReport(
  { service, recorder }: Walker,
  environment: Environment,
  send: Send,
): Promise<void> {
  const { clock, database, urls } = service
  clock.now += 1
  const interval = {
    interval_start: new Date(clock.now - 86_400_000).toISOString(),
    interval_end: new Date(clock.now).toISOString(),
  }
  for (const type of REPORT_TYPES)
    expect((await send('/v1/treasury_reports', { body: { type, ...interval } })).status).toBe(201)
  const parts = {
    database: recorder.database,
    clock: { machine: () => clock.now, service: () => clock.now },
    wakeUpChannel: { publish: () => {} },
    log: strictLog,
    links: openReportLinks(database.pepper, urls),
  }
  // Each round makes the oldest of the tenant.
  const newest = async () => (await send(`/v1/treasury_reports?limit=${REPORT_TYPES.length}`)).body.data
  while ((await newest())[0].status === 'pending') await reportWorker(parts).runOnce()
  for (const { status, result } of await newest()) {
    expect([environment, status]).toEqual([environment, 'succeeded'])
    expect((await fetch(result.files[0].url)).status).toBe(200)
  }
  clock.now += 8 * 86_400_000
  await reportExpiryWorker(parts).runOnce()
  clock.now -= 8 * 86_400_000
}

const REPORT_TYPES = [
  'balance_summary',
  'ledger_entries',
  'settlement_reconciliation',
  'payout_reconciliation',
]

/** Opens a stream and closes it when it has looked for events. */
async function watchEvents({ service, recorder }: Walker, secret: string): Promise<void> {
  const closing = new AbortController()
  await fetch(`${service.urls.sandbox}/v1/events/stream`, {
    headers: { Authorization: `Bearer ${secret}` },
    signal: closing.signal,
  })
  await until('a look', () => recorder.recorded.some(({ statement }) => statement.name === 'events_after'))
  closing.abort()
}

/** A key whose answer has run out, and the answer that another node has stored meanwhile. */
async function comeBackLater(service: TestService, send: Send, space: string, db: Database): Promise<void> {
  const key = crypto.randomUUID()
  const call = { body: TEMPLATE, headers: { 'Idempotency-Key': key } }
  const first = await send('/v1/pass_templates', call)
  service.clock.now += 25 * 3_600_000
  expect((await send('/v1/pass_templates', call)).body.id).not.toBe(first.body.id)
  expect((await readAnswer(db, space, key))?.status).toBe(201)
  service.clock.now -= 25 * 3_600_000
}

/** What no request does: counting, sweeping. */
export async function runBackground({ service, recorder }: Walker): Promise<void> {
  const { database, clock } = service
  const meter = createUsageMeter(database, clock)
  meter.count('sandbox', 'ten_x', 'key_x', 'read', clock.now)
  meter.count('live', 'ten_x', 'key_x', 'read', clock.now)
  meter.touch('sandbox', {
    space: 'ten_x',
    version: '2025-11-01',
    named: false,
    id: 'req_x',
    operation: 'listPasses',
    changes: ['2026-05-19/return-archived-passes'],
    at: clock.now,
  })
  await meter.flush()
  await logRequests(database)
  await totalsWorker({ database, clock, log: strictLog }).runOnce()
  clock.now += 2 * 3_600_000
  await holdTotalsWorker({ database, clock, log: strictLog }).runOnce()
  clock.now -= 2 * 3_600_000
  await balanceAlertWorker({
    database,
    clock,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()
  await sweep(database, clock)
  await wipeWorker({ database, clock, log: strictLog, batch: 2, graceMs: 0 }).runOnce()
  clock.now += 3_600_000
  await passExpiryWorker({
    database,
    clock,
    baseUrls: { ...service.urls, console: '' },
    passTokens: openPassTokens(database.pepper),
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()
  clock.now -= 3_600_000
  clock.now += 8 * 86_400_000
  await abandonedDecisionWorker({
    database,
    clock: { ...clock, machine: () => Date.now() + 60_000 },
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()
  await holdExpiryWorker({ database, clock, log: strictLog, wakeUpChannel: { publish: () => {} } }).runOnce()
  await activationWorker({
    database,
    clock,
    sanctions: service.sanctions,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()
  await destinationScreeningWorker({
    database,
    clock,
    sanctions: service.sanctions,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()
  await settlementWorker({
    database,
    clock,
    sanctions: service.sanctions,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()
  clock.now += 52 * 86_400_000
  await disputeExpiryWorker({
    database,
    clock,
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()
  clock.now -= 60 * 86_400_000
  await screenAgain({ service, recorder })
  await createClock().refresh(database.control)
  await readRevision(database.control)
  connectWakeUpChannel(database.control, createWakeUps()).publish('sandbox', 'ten_1')
  await until('a notice', () => recorder.recorded.some(({ statement }) => statement.name === 'events_notify'))
  await payloadWorker({ database, clock, log: strictLog, wakeUpChannel: { publish: () => {} } }).runOnce()
  await rotateCardKey({ ...service.operator, control: database.control }, database.cards, strictLog)
  const silent = pino({ level: 'silent' })
  const setAside = createSetAside({ control: database.control, clock, log: silent }, 'walk', 'sandbox')
  const item = { space: 'ten_1', id: 'pass_1' }
  await setAside.take(item, new Error('a row that fails'))
  await countSetAside(database.control)
  await setAside.succeeded(item)
  const [now, due] = [Date.now(), Date.now()]
  const held = { problem: 'a row that fails', now, due, isUnsigned: true }
  await readTransfer(database.sandbox, 'ten_1', 'po_1')
  await holdUpTransfer(database.sandbox, { tenant_id: 'ten_1', id: 'po_1' }, held)
  await holdUpBankTransfer(database.sandbox, 'ten_1', 'po_1', held)
  await failReport(database.sandbox, 'ten_1', 'trp_1', now)
  const { control, cards } = database
  const room = cards!
  const parts = { control, room, keys: createCardKeys(room, clock), clock, log: strictLog }
  await reseal({ ...parts, graceS: 0 })
  await listingWorker(parts).runOnce()
  await createCardDirectory(room.pool, parts.keys).find('live', '4000000000000002')
  await retain({ control: database.control, clock, log: pino({ level: 'silent' }) })
}

async function logRequests(databases: TestService['database']): Promise<void> {
  const request = {
    id: 'req_00000000000000000000000000',
    created: Date.now(),
    method: 'GET',
    target: '/v1/passes',
    path: '/v1/passes',
    operation: 'listPasses',
    version: '2026-05-19',
    status: '200',
    code: null,
    key_id: 'key_x',
    address: '::1',
    ms: 1,
    request_body: null,
    response_body: '{}',
    trace_id: null,
  }
  for (const environment of ['sandbox', 'live'] as const) {
    await addRequests(databases[environment], [{ ...request, space: 'ten_x' }], Date.now())
  }
}

/** Another list comes into use: everybody is held against it. */
async function screenAgain({ service }: Walker): Promise<void> {
  const { database, clock, sanctions } = service
  const list = { ...sanctions.list(), number: sanctions.list().number + 1 }
  const text = `INSERT INTO control.sanctions_lists (number, version, since) VALUES ($1, 'walk', now())`
  await database.control.query({ text }, [list.number])
  await cardholderScreeningWorker({
    database,
    clock,
    sanctions: { list: () => list },
    log: strictLog,
    wakeUpChannel: { publish: () => {} },
  }).runOnce()
}

/** Longer than a first attempt stays unseen. */
const SLOW_MS = 300

/** An endpoint that answers once, slowly, and then never in time, until its last attempt disables it; the clock hurries on. */
export async function runWorker({ service }: Walker, environment: Environment): Promise<void> {
  const { database, clock } = service
  const began = clock.now
  let posts = 0
  const worker = createWorker({
    environment,
    pool: database[environment],
    control: database.control,
    clock,
    outbound: {
      check: async () => undefined,
      post: async () => {
        posts += 1
        if (posts > 1) return { error: 'late', kind: 'timeout', durationMs: 10_000 }
        await wait(SLOW_MS)
        return { status: 200, body: '', durationMs: SLOW_MS }
      },
      close: () => {},
    },
    seals: createSeals(database.pepper),
    log: pino({ level: 'silent' }),
    readPin: (tenantId) => readPin(database.control, tenantId, environment),
    pollMs: 10,
    // One by the statements for several tenants, one by those for a single one, which name it everywhere.
    distributed: environment === 'live' || database.live.distributed,
  })
  await until('the endpoint to be disabled', () => {
    clock.now += 600_000
    return worker.stats().attempts.disabled > 0
  })
  await worker.stop()
  clock.now = began
}

/** Google Wallet is told of everything in a space, and refuses everything once. */
export async function runGoogle({ service }: Walker, environment: Environment, space: string): Promise<void> {
  const refused = new Set<string>()
  const pool = service.database[environment]
  await walkMessages(pool, space)
  await resendTemplate(pool, space, NO_TEMPLATE) // only tenants of older versions change what their events do not show
  const follower = createFollower({
    environment,
    pool,
    sync: async ({ id }) => {
      if (refused.has(id)) return { outcome: 'done' }
      refused.add(id)
      return { outcome: 'refused', status: 400, message: 'not yet' }
    },
    setAside: createSetAside(
      { control: service.database.control, clock: service.clock, log: strictLog },
      'google_wallet',
      environment,
    ),
    leaseClock: createLeaseClock(pool, Date.now),
    log: pino({ level: 'silent' }),
    pollMs: 10,
  })
  await until('Google to know it', async () => {
    const text = `SELECT FROM google_cursors c JOIN event_heads h USING (tenant_id)
                   WHERE c.sequence = h.sequence AND c.walks::text = '[]' AND c.tenant_id = $1 AND h.tenant_id = $1`
    return (await pool.query({ text }, [space])).count > 0
  })
  await follower.stop()
}
