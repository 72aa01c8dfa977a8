/** What the forms of the console take: each is in the one list of them, and a session alone gives no one more power. */
import type { Router } from 'express'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { versions } from '../../generated/versions.ts'
import { ACTIONS, takesCode } from '../../runtime/dashboard/actions.ts'
import { createAuthorizationRoutes } from '../../runtime/dashboard/authorization/routes.ts'
import { createChallenges } from '../../runtime/dashboard/challenges.ts'
import type { VisitRole } from '../../runtime/dashboard/engine/visit.ts'
import { createDashboard, listRoutes } from '../../runtime/dashboard/pages/dashboard.ts'
import { createSignIn } from '../../runtime/dashboard/sign-in/sign-in.ts'
import { createJoin } from '../../runtime/dashboard/team/join.ts'
import { USDC_CHAINS } from '../../runtime/money/chain/usdc-chains.ts'
import { createFactors } from '../../runtime/tenants/factors/factors.ts'
import { createLimiter } from '../../runtime/tenants/limits/limiter.ts'
import { makeTemplate } from '../api/fixtures.ts'
import { make, makeCard } from '../cards/fixtures.ts'
import { issueToken } from '../support/access-tokens.ts'
import { makeKey, type Send, speak } from '../support/service.ts'
import { Authenticator, optionsIn } from './support/authenticator.ts'
import {
  Browser,
  hiddenFields,
  makeTenant,
  startDashboard,
  type TestDashboard,
  type Visitor,
} from './support/dashboard.ts'

let dashboard: TestDashboard
let tenantId: string
let owner: Visitor
/** One types codes where it is asked to; the other has a session alone. */
let browser: Browser
let thief: Browser
let sandbox: Send
let live: Send

beforeAll(async () => {
  dashboard = await startDashboard({ named: true })
  tenantId = await makeTenant(dashboard.service, 'enterprise')
  owner = await dashboard.signIn(tenantId, 'owner')
  browser = new Browser(dashboard.origin, owner.cookie, owner)
  thief = new Browser(dashboard.origin, owner.cookie)
  const keyOf = async (environment: 'sandbox' | 'live') => {
    const { secret } = await makeKey(dashboard.service, tenantId, { scope: 'admin', environment })
    return speak(dashboard.service.urls[environment], { secret })
  }
  sandbox = await keyOf('sandbox')
  live = await keyOf('live')
})
afterAll(() => dashboard?.stop())

const query = (text: string, values: readonly unknown[] = [tenantId]) =>
  dashboard.service.database.control.query({ text }, values)

/** Paths of a router that a form can be sent to. */
function postsOf(router: Router): string[] {
  return router.stack.flatMap(({ route }) => {
    const methods = (route as { readonly methods?: Readonly<Record<string, boolean>> } | undefined)?.methods
    return methods?.post ? [route!.path] : []
  })
}

test('every form of the console is in the list, and nothing else is', () => {
  const { service, origin, watching } = dashboard
  const { control, pepper } = service.database
  const parts = {
    ...watching,
    control,
    pepper,
    clock: service.clock,
    csrfKey: 'key',
    consoleUrl: origin,
    apiUrls: { sandbox: origin, live: origin },
    proxies: 0 as const,
    log: pino({ level: 'silent' }),
    sessions: {} as never,
    barcodes: {} as never,
    operate: service.operate,
    dryRun: service.dryRun,
    limiter: createLimiter(),
    factors: createFactors(control, pepper, service.clock),
  }
  const routers = [createSignIn, createChallenges, createJoin, createAuthorizationRoutes, createDashboard]
  const served = routers.flatMap((create) => postsOf(create(parts)))
  const listed = served.map((path) => path.replace(/^\/(?:sandbox|live)\//, ''))
  expect([...new Set(listed)].toSorted()).toEqual(Object.keys(ACTIONS).toSorted())
})

test('no form with files takes a code, which covers the fields alone', () => {
  const withFiles = listRoutes(dashboard.watching).filter(({ maxBytes }) => maxBytes !== undefined)
  const paths = withFiles.map(({ path }) => path.replace(/^\/\w+\//, ''))
  expect(paths.filter((path) => 'audit' in ACTIONS[path]!)).toEqual([])
})

/** A form as it stands on its page. */
interface Form {
  readonly page: string
  /** Absent: the page's own address. */
  readonly action?: string
  readonly typed?: Readonly<Record<string, string>>
}

const ON_CHAIN = `${USDC_CHAINS.sandbox.id}:0x52908400098527886E0F7030069857D2E4169EE7`
const ENDPOINT = { url: 'https://93.184.215.14/hooks', enabled_events: ['pass.created'] }

const itemOf = async (send: Send, path: string, body: object) => (await make(send, path, body)).id as string

const makeDestination = async () => {
  const body = { type: 'usdc_address', address: ON_CHAIN, holder_name: 'Harbour Coffee LLC', default: false }
  const id = await itemOf(sandbox, '/v1/payout_destinations', body)
  await query(`UPDATE sandbox.payout_destinations SET status = 'active' WHERE id = $1`, [id])
  return id
}

/** A draft for a card; the first form promotes it, and the second one rolls it back. */
let draftPage: string
async function makeDraft(): Promise<string> {
  const card_id = (await makeCard(sandbox)).id
  const body = { name: 'Travel', card_id, spending_controls: { blocked_categories: ['5813'] } }
  draftPage = `/sandbox/spending-control-drafts/${await itemOf(sandbox, '/v1/spending_control_drafts', body)}`
  return draftPage
}

async function makeDisabledEndpoint(): Promise<string> {
  const id = await itemOf(live, '/v1/webhook-endpoints', ENDPOINT)
  await live(`/v1/webhook-endpoints/${id}`, { method: 'PATCH', body: { status: 'disabled' } })
  return id
}

async function planPromotion(): Promise<string> {
  const id = await makeTemplate(sandbox, { name: 'To live' })
  const page = `/sandbox/promote?type=pass_template&id=${id}`
  const hidden = hiddenFields((await browser.get(page)).text, '/live/promotions/plan')
  return (await browser.upload('/live/promotions/plan', { ...hidden, [id]: 'yes' })).location!
}

async function connectApp(): Promise<string> {
  const { id } = await issueToken(dashboard.service.database, owner, 'sandbox')
  await query(
    `INSERT INTO control.oauth_artefacts (digest, model, grant_id, sealed, expires_at)
     VALUES (sha256(convert_to($1, 'UTF8')), 'RefreshToken', $1, '', now() + interval '1 day')`,
    [id],
  )
  return id
}

const SECURITY = '/sandbox/security'
const memberPage = async (role: VisitRole) =>
  `/sandbox/members/${(await dashboard.signIn(tenantId, role)).memberId}`

/** What each form that takes a code is tried with. */
const FORMS: Readonly<Record<string, () => Promise<Form>>> = {
  'keys/new': async () => ({ page: '/live/keys/new', typed: { scope: 'admin', allow: '' } }),
  'keys/:id/rotate': async () => ({
    page: `/sandbox/keys/${(await makeKey(dashboard.service, tenantId)).id}/rotate`,
  }),
  version: async () => ({ page: '/live/version', typed: { version: versions.at(-2)!.name, anyway: 'yes' } }),
  'members/invite': async () => ({
    page: '/sandbox/members/invite',
    typed: { email: 'grace@example.com', role: 'owner' },
  }),
  'members/:id/role': async () => {
    const page = await memberPage('developer')
    return { page, action: `${page}/role`, typed: { role: 'owner' } }
  },
  'members/:id/remove': async () => {
    const page = await memberPage('viewer')
    return { page, action: `${page}/remove` }
  },
  'connected-apps/:id/disconnect': async () => {
    const page = '/sandbox/connected-apps'
    return { page, action: `${page}/${await connectApp()}/disconnect` }
  },
  'security/recovery-codes': async () => ({ page: SECURITY, action: `${SECURITY}/recovery-codes` }),
  'security/passkeys': async () => {
    const options = optionsIn((await browser.get(SECURITY)).text)
    // The challenge is good beside the page that it came with.
    const challenge = Buffer.from(options.challenge, 'base64url').toString()
    const credential = new Authenticator(dashboard.origin).create(options)
    return { page: SECURITY, action: `${SECURITY}/passkeys`, typed: { name: 'Key', credential, challenge } }
  },
  // Of the passkey that the form before has added.
  'security/passkeys/remove': async () => ({ page: SECURITY, action: `${SECURITY}/passkeys/remove` }),
  'promotions/:id/apply': async () => {
    const page = await planPromotion()
    return { page, action: `${page}/apply` }
  },
  'webhook-endpoints/new': async () => ({
    page: '/live/webhook-endpoints/new',
    typed: { url: ENDPOINT.url, enabled_events: 'pass.created', description: '' },
  }),
  'webhook-endpoints/:id/enable': async () => {
    const page = `/live/webhook-endpoints/${await makeDisabledEndpoint()}`
    return { page, action: `${page}/enable` }
  },
  'webhook-endpoints/bulk/enable': async () => {
    const action = '/live/webhook-endpoints/bulk/enable'
    return { page: `${action}?id=${await makeDisabledEndpoint()}`, action }
  },
  'webhook-endpoints/:id/rotate': async () => ({
    page: `/sandbox/webhook-endpoints/${await itemOf(sandbox, '/v1/webhook-endpoints', ENDPOINT)}/rotate`,
  }),
  'sandboxes/new': async () => ({ page: '/sandbox/sandboxes/new', typed: { name: 'Checkout tests' } }),
  'sandboxes/:id/key': async () => ({
    page: `/sandbox/sandboxes/${await itemOf(sandbox, '/v1/sandboxes', { name: 'Refund tests' })}/key`,
    typed: { scope: 'write' },
  }),
  'spending-control-drafts/:id/promote': async () => ({
    page: `${await makeDraft()}/promote`,
    typed: { version: '1' },
  }),
  'spending-control-drafts/:id/roll-back': async () => ({ page: `${draftPage}/roll-back` }),
  'payout-destinations/new': async () => ({
    page: '/sandbox/payout-destinations/new',
    typed: { holder_name: 'Harbour', type: 'usdc_address', address: ON_CHAIN, default: 'false' },
  }),
  'payout-destinations/:id/make-default': async () => {
    const page = `/sandbox/payout-destinations/${await makeDestination()}`
    return { page, action: `${page}/make-default` }
  },
  'cards/:id/reveal': async () => ({ page: `/sandbox/cards/${(await makeCard(sandbox)).id}/reveal` }),
  reset: async () => ({ page: '/sandbox/reset', typed: { confirm: 'wipe' } }),
  // The last one: it ends the other sessions.
  'security/password': async () => ({
    page: SECURITY,
    action: `${SECURITY}/password`,
    typed: { current: owner.password, next: 'another long password' },
  }),
}

const coded = Object.entries(ACTIONS).flatMap(([path, action]) =>
  'audit' in action ? [[path, action.audit] as const] : [],
)

test('every form that takes a code is tried below, or where applications are let in', () => {
  expect(coded.map(([path]) => path).toSorted()).toEqual(
    [...Object.keys(FORMS), '/oauth/consent/:uid'].toSorted(),
  )
})

describe('a form that takes a code', () => {
  /** Successes in the logs of both environments. */
  const countDone = async (audit: string) => {
    const log = (environment: string) =>
      `SELECT id FROM ${environment}.audit_log WHERE tenant_id = $1 AND action = $2 AND outcome = 'succeeded'`
    return (await query(`${log('sandbox')} UNION ALL ${log('live')}`, [tenantId, audit])).rows.length
  }
  const auditOf = new Map(coded)

  test.each(Object.keys(FORMS))('%s is refused to a session alone, and done with a code', async (path) => {
    const audit = auditOf.get(path)!
    const { page, action = page, typed = {} } = await FORMS[path]!()
    const before = await countDone(audit)
    const asked = await thief.submit(page, action, typed)
    expect([asked.status, asked.text]).toEqual([
      403,
      expect.stringContaining('Confirm with your authenticator app'),
    ])
    const wrong = await thief.submit(page, action, { ...typed, code: '000000' })
    expect([wrong.status, wrong.text]).toEqual([403, expect.stringMatching(/code is incorrect/)])
    expect(asked.text + wrong.text).not.toMatch(/svc_sk_live_|whsec_|\/invitations\/ten_|class="secret"/)
    expect(await countDone(audit)).toBe(before)
    // What was filled in stands on the page that asks, but for secrets.
    const { current: _, next: __, ...kept } = typed as Record<string, string>
    const filled = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== ''))
    expect(asked.text.replaceAll('&quot;', '"')).toContain(`action="${action}"`)
    for (const value of Object.values(filled)) expect(asked.text.replaceAll('&quot;', '"')).toContain(value)
    const done = await browser.submit(page, action, typed)
    expect([done.status < 400, done.text]).toEqual([true, expect.not.stringContaining('Confirm with')])
    expect(await countDone(audit)).toBeGreaterThan(before)
  })

  test('a form that takes a code uses it once, however often it is sent; another form does not get it', async () => {
    const page = '/sandbox/keys/new'
    const fields = {
      ...hiddenFields((await browser.get(page)).text, page),
      scope: 'read',
      allow: '',
      code: await owner.freshCode(),
    }
    expect((await browser.post(page, fields)).status).toBe(200)
    expect((await browser.post(page, fields)).status).toBe(409)
    expect((await browser.post(page, { ...fields, scope: 'admin' })).status).toBe(403)
    expect((await browser.post(page, { ...fields, idempotency_key: 'another' })).status).toBe(403)
  })
})

test('the sandbox asks a session only, where live asks for a code', async () => {
  const only = Object.entries(ACTIONS).filter(([, { takes }]) => takes === 'code in live')
  expect(only.map(([, action]) => [takesCode(action, 'sandbox'), takesCode(action, 'live')])).toEqual(
    only.map(() => [false, true]),
  )
  const page = '/sandbox/webhook-endpoints/new'
  const typed = { url: ENDPOINT.url, enabled_events: 'pass.created', description: '' }
  expect((await thief.submit(page, page, typed)).text).toContain('whsec_')
})
