/** Members of an account, their roles, and the links by which they join. */
import { TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sweepInvitations } from '../../runtime/account/members/invitations.ts'
import { listMembers } from '../../runtime/account/members/members.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { issueToken } from '../support/access-tokens.ts'
import { speak } from '../support/service.ts'
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
let browser: Browser

beforeAll(async () => {
  dashboard = await startDashboard()
})
afterAll(() => dashboard?.stop())
beforeEach(async () => {
  tenantId = await makeTenant(dashboard.service)
  owner = await dashboard.signIn(tenantId, 'owner')
  browser = new Browser(dashboard.origin, owner.cookie, owner)
})

const MEMBERS = '/sandbox/members'
const PASSWORD = 'a long enough password'

const members = () => listMembers(dashboard.service.operator, tenantId)
const emails = async () => (await members()).filter((each) => each.can_sign_in).map(({ email }) => email)
const query = (text: string, values: readonly unknown[] = [tenantId]) =>
  dashboard.service.database.control.query({ text }, values)

/** Sends a form of the owner's with a code. */
const confirmed = async (page: string, action: string, typed: Readonly<Record<string, string>> = {}) =>
  browser.submit(page, action, { ...typed, code: await owner.freshCode() })

/** @returns the path of the link. */
async function invite(email = 'grace@example.com', role = 'developer'): Promise<string> {
  const { status, text } = await confirmed(`${MEMBERS}/invite`, `${MEMBERS}/invite`, { email, role })
  expect(status).toBe(200)
  return /\/invitations\/[\w.]+/.exec(text)![0]
}

/** Opens a link and fills in the form. */
async function join(path: string, typed: Readonly<Record<string, string>> = {}) {
  const page = await fetch(dashboard.origin + path)
  const text = await page.text()
  const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)]
  const secret = /<p class="secret"><code>([A-Z2-7 ]+)<\/code>/.exec(text)?.[1]?.replaceAll(' ', '') ?? ''
  const send = (more: Readonly<Record<string, string>> = {}) =>
    fetch(dashboard.origin + path, {
      method: 'POST',
      redirect: 'manual',
      headers: { Cookie: page.headers.getSetCookie()[0]?.split(';')[0] ?? '' },
      body: new URLSearchParams({
        ...Object.fromEntries(hidden.map(([, name, value]) => [name!, value!])),
        password: PASSWORD,
        code: secret === '' ? '' : new TOTP({ secret }).generate(),
        ...typed,
        ...more,
      }),
    })
  return { page, text, secret, send }
}

describe('an invitation', () => {
  test('an invitation makes one member by its link, once, with a password and a key of their own', async () => {
    const path = await invite()
    expect((await browser.get(MEMBERS)).text).not.toContain(path)
    const first = await join(path)
    const second = await join(path)
    const joined = await first.send()
    expect([joined.status, joined.headers.get('Location')]).toEqual([303, '/'])
    const cookie = joined.headers.getSetCookie().find((each) => each.startsWith('svc_session='))!
    const theirs = new Browser(dashboard.origin, cookie.split(';')[0]!)
    expect((await theirs.get(MEMBERS)).text).toContain('grace@example.com')
    expect((await theirs.get(`${MEMBERS}/invite`)).status).toBe(403)
    expect([(await second.send()).status, (await fetch(dashboard.origin + path)).status]).toEqual([410, 410])
    expect(await emails()).toEqual([owner.email, 'grace@example.com'])
  })

  test('an invitation is used by one of two who open it at once', async () => {
    const path = await invite()
    const both = await Promise.all([join(path), join(path)])
    const statuses = await Promise.all(both.map(async ({ send }) => (await send()).status))
    expect(statuses.toSorted()).toEqual([303, 410])
  })

  test('an invitation keeps the key of the app over what has to be put right', async () => {
    const form = await join(await invite())
    const again = await form.send({ password: 'short', code: '000000' })
    const text = await again.text()
    expect(again.status).toBe(422)
    expect([text.includes('id="password-fault"'), text.includes('id="code-fault"')]).toEqual([true, true])
    expect(text.replaceAll(' ', '')).toContain(form.secret)
    expect(text).not.toContain('short')
    expect((await form.send()).status).toBe(303)
  })

  test('an invitation takes neither another’s key nor a form of another browser', async () => {
    const form = await join(await invite())
    const other = await join(await invite('other@example.com'))
    const totp = /name="totp" value="([^"]+)"/.exec(other.text)![1]!
    expect((await form.send({ totp })).status).toBe(403)
    expect((await form.send({ csrf: 'x' })).status).toBe(403)
    expect(await emails()).toEqual([owner.email])
  })

  test('an invitation sent twice by one form is one link; made anew, the older is void', async () => {
    const page = await browser.get(`${MEMBERS}/invite`)
    const [, csrf] = /name="csrf" value="([^"]+)"/.exec(page.text)!
    const code = owner.code()
    const fields = { csrf: csrf!, idempotency_key: 'one', email: 'grace@example.com', role: 'viewer', code }
    const links = []
    const anew = { ...fields, idempotency_key: 'two', code: owner.code(1) }
    for (const typed of [fields, fields, anew]) {
      const { text } = await browser.post(`${MEMBERS}/invite`, typed)
      links.push(/\/invitations\/[\w.]+/.exec(text)![0])
    }
    expect(links[0]).toBe(links[1])
    const open = await Promise.all(links.map(async (path) => (await fetch(dashboard.origin + path)).status))
    expect(open).toEqual([410, 410, 200])
  })

  test('an invitation ends when it is withdrawn, when its time is over, and with the owner who made it', async () => {
    const withdrawn = await invite()
    const action = /action="([^"]+withdraw)"/.exec((await browser.get(MEMBERS)).text)![1]!
    expect((await browser.submit(MEMBERS, action)).location).toBe(MEMBERS)
    const late = await invite()
    await query(`UPDATE control.invitations SET expires_at = now() WHERE tenant_id = $1`)
    await sweepInvitations(dashboard.service.database.control, Date.now() - 3_600_000)
    const { rows } = await query('SELECT 1 FROM control.invitations WHERE tenant_id = $1')
    expect(rows).toHaveLength(1)
    const form = await join(await invite('second@example.com', 'owner'))
    await form.send()
    const second = (await members()).find(({ email }) => email === 'second@example.com')!
    const orphan = await invite('third@example.com', 'owner')
    await query(`UPDATE control.invitations SET member_id = $2 WHERE tenant_id = $1`, [tenantId, second.id])
    await confirmed(`${MEMBERS}/${second.id}`, `${MEMBERS}/${second.id}/role`, { role: 'viewer' })
    for (const path of [
      withdrawn,
      late,
      orphan,
      `/invitations/${tenantId}.${'0'.repeat(64)}`,
      '/invitations/x',
    ]) {
      expect([path, (await fetch(dashboard.origin + path)).status]).toEqual([path, 410])
    }
  })

  test.each([
    ['no address', 'nobody', 'The email address is not valid'],
    ['a member', 'OWNER@example.com', 'already belongs to a member'],
  ])('an invitation of %s is not made', async (_, email, why) => {
    const answer = await confirmed(`${MEMBERS}/invite`, `${MEMBERS}/invite`, { email, role: 'owner' })
    expect([answer.status, answer.text]).toEqual([422, expect.stringContaining(why)])
  })
})

describe('a member', () => {
  test('a member has another role from the next page on', async () => {
    const other = await dashboard.signIn(tenantId, 'developer')
    const theirs = new Browser(dashboard.origin, other.cookie)
    const page = `${MEMBERS}/${other.memberId}`
    expect((await confirmed(page, `${page}/role`, { role: 'owner' })).location).toBe(MEMBERS)
    expect((await theirs.get(page)).status).toBe(200)
    expect((await confirmed(page, `${page}/role`, { role: 'viewer' })).location).toBe(MEMBERS)
    expect((await theirs.get(page)).status).toBe(403)
    const { rows } = await query(
      `SELECT DISTINCT action, actor_id, target_id FROM live.audit_log
       WHERE tenant_id = $1 AND action = 'member.role_changed'`,
    )
    expect(rows).toEqual([
      { action: 'member.role_changed', actor_id: owner.memberId, target_id: other.memberId },
    ])
  })

  test('a member who is removed is out at once: sessions, applications; keys work on and pass to the owner', async () => {
    const other = await dashboard.signIn(tenantId, 'developer')
    const { operator, urls, database } = dashboard.service
    const key = await createKey(operator, { tenantId, environment: 'sandbox', memberId: other.memberId })
    const { secret } = await issueToken(database, { tenantId, memberId: other.memberId }, 'sandbox')
    expect((await speak(urls.sandbox, { secret })('/v1/me')).status).toBe(200)
    const page = `${MEMBERS}/${other.memberId}`
    const revision = async () => (await query('SELECT revision FROM control.revision', [])).rows
    const before = await revision()
    expect((await confirmed(page, `${page}/remove`)).location).toBe(MEMBERS)
    expect(await revision()).not.toEqual(before)
    expect((await new Browser(dashboard.origin, other.cookie).get(MEMBERS)).status).toBe(303)
    expect((await speak(urls.sandbox, { secret: key.secret })('/v1/me')).status).toBe(200)
    dashboard.service.forget()
    expect((await speak(urls.sandbox, { secret })('/v1/me')).status).toBe(401)
    const { rows } = await query('SELECT member_id FROM control.keys WHERE id = $1', [key.id])
    expect(rows).toEqual([{ member_id: owner.memberId }])
    expect((await browser.get(page)).status).toBe(404)
  })

  test('a member who is the last owner stays one; of two who demote each other, one', async () => {
    const page = `${MEMBERS}/${owner.memberId}`
    const refused = await confirmed(page, `${page}/role`, { role: 'viewer' })
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining('must have at least one owner'),
    ])
    await (await join(await invite('second@example.com', 'owner'))).send()
    const second = (await members()).find(({ email }) => email === 'second@example.com')!
    await owner.freshCode()
    // Both forms are loaded first, because a viewer has none.
    const forms = await Promise.all(
      [owner.memberId, second.id].map(async (id) => {
        const action = `${MEMBERS}/${id}/role`
        return { action, hidden: hiddenFields((await browser.get(`${MEMBERS}/${id}`)).text, action) }
      }),
    )
    const changes = await Promise.all(
      forms.map(({ action, hidden }, index) =>
        browser.post(action, { ...hidden, role: 'viewer', code: owner.code(index) }),
      ),
    )
    const owners = (await members()).filter(({ role, can_sign_in }) => role === 'owner' && can_sign_in)
    expect(owners).toHaveLength(1)
    expect(changes.filter(({ status }) => status === 303)).toHaveLength(1)
  })

  test('a member of another account is not to be found, whatever is asked', async () => {
    const stranger = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
    const own = await browser.get(`${MEMBERS}/${owner.memberId}`)
    expect(own.text).not.toContain('/remove')
    expect((await browser.get(`${MEMBERS}/${stranger.memberId}`)).status).toBe(404)
    const theirs = new Browser(dashboard.origin, stranger.cookie)
    for (const action of ['role', 'remove']) {
      const address = `${MEMBERS}/${owner.memberId}/${action}`
      expect((await theirs.post(address, { role: 'viewer' })).status).toBe(403)
    }
    expect(await emails()).toEqual([owner.email])
  })
})

describe('without a code of the owner’s own', () => {
  const stateOf = async () => (await members()).map(({ id, role }) => ({ id, role }))

  test.each([
    ['a role', 'role', 'member.role_changed'],
    ['a removal', 'remove', 'member.removed'],
    ['an invitation', 'invite', 'invitation.created'],
  ])('%s is refused, and the logs of both environments say so', async (_, what, action) => {
    const other = await dashboard.signIn(tenantId, 'developer')
    const isInvitation = what === 'invite'
    const page = isInvitation ? `${MEMBERS}/invite` : `${MEMBERS}/${other.memberId}`
    const address = isInvitation ? page : `${page}/${what}`
    const typed = { email: 'grace@example.com', role: 'owner' }
    const used = await owner.freshCode()
    // Makes it a code that was used.
    await browser.submit(`${MEMBERS}/invite`, `${MEMBERS}/invite`, { ...typed, code: used })
    await query('DELETE FROM control.invitations WHERE tenant_id = $1')
    const before = await stateOf()
    const wrong: readonly Readonly<Record<string, string>>[] = [
      { code: '000000' },
      { code: other.code() },
      { code: used },
    ]
    for (const code of wrong) {
      const { status, text } = await browser.submit(page, address, { ...typed, ...code })
      expect([code, status, text]).toEqual([code, 403, expect.stringContaining('The code is incorrect')])
      expect(text).not.toContain('/invitations/ten_')
    }
    expect(await stateOf()).toEqual(before)
    expect((await query('SELECT 1 FROM control.invitations WHERE tenant_id = $1')).rows).toEqual([])
    for (const environment of ['sandbox', 'live']) {
      const { rows } = await query(
        `SELECT actor_id, target_id, ip FROM ${environment}.audit_log
         WHERE tenant_id = $1 AND action = '${action}' AND outcome = 'failed'`,
      )
      const target_id = isInvitation ? null : other.memberId
      expect(rows).toEqual(wrong.map(() => ({ actor_id: owner.memberId, target_id, ip: '127.0.0.1' })))
    }
  })

  test('a right code is not checked after ten wrong ones, on whichever form', async () => {
    const other = await dashboard.signIn(tenantId, 'developer')
    const page = `${MEMBERS}/${other.memberId}`
    for (let count = 0; count < 10; count += 1) {
      await browser.submit(page, `${page}/${count % 2 === 0 ? 'role' : 'remove'}`, {
        role: 'owner',
        code: '000000',
      })
    }
    expect((await confirmed(page, `${page}/remove`)).status).toBe(403)
    expect((await stateOf()).find(({ id }) => id === other.memberId)?.role).toBe('developer')
  })

  test('a form that was sent before gives its link again, and for nothing else', async () => {
    const page = await browser.get(`${MEMBERS}/invite`)
    const fields = {
      ...hiddenFields(page.text, `${MEMBERS}/invite`),
      email: 'grace@example.com',
      role: 'viewer',
    }
    const code = owner.code()
    expect((await browser.post(`${MEMBERS}/invite`, { ...fields, code })).status).toBe(200)
    expect((await browser.post(`${MEMBERS}/invite`, { ...fields, code })).status).toBe(200)
    // Of a form without a key none is known to have been sent before.
    const keyless = { ...fields, idempotency_key: '', code: owner.code(1) }
    expect((await browser.post(`${MEMBERS}/invite`, keyless)).status).toBe(200)
    const others = [{ role: 'owner' }, { email: 'other@example.com' }, { idempotency_key: '' }]
    for (const other of others) {
      const answer = await browser.post(`${MEMBERS}/invite`, { ...fields, ...other, code })
      expect([other, answer.status]).toEqual([other, 403])
    }
  })
})

test('an application is disconnected by an owner, at once, and the log says by whom', async () => {
  const { urls, database } = dashboard.service
  const { id, secret } = await issueToken(database, owner, 'sandbox')
  // It may get further tokens: only such an application is connected.
  await query(
    `INSERT INTO control.oauth_artefacts (digest, model, grant_id, sealed, expires_at)
     VALUES (sha256(convert_to($1, 'UTF8')), 'RefreshToken', $1, '', now() + interval '1 day')`,
    [id],
  )
  const path = '/sandbox/connected-apps'
  const action = `${path}/${id}/disconnect`
  expect((await browser.get(path)).text).toContain('View everything in the account')
  expect((await browser.get('/live/connected-apps')).text).toContain('No connected apps yet')
  const stranger = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
  expect((await new Browser(dashboard.origin, stranger.cookie).get(path)).text).toContain(
    'No connected apps yet',
  )
  expect((await browser.submit(path, action)).location).toBe(path)
  dashboard.service.forget()
  expect((await speak(urls.sandbox, { secret })('/v1/me')).status).toBe(401)
  const { rows } = await query(
    `SELECT actor_id FROM sandbox.audit_log WHERE tenant_id = $1 AND action = 'connected_app.revoked'`,
  )
  expect(rows).toEqual([{ actor_id: owner.memberId }])
})

test('a session is ended from another, and no other member’s', async () => {
  const path = '/sandbox/sessions'
  const begun = await fetch(`${dashboard.origin}/begin/${tenantId}/${owner.memberId}`)
  const other = new Browser(dashboard.origin, begun.headers.getSetCookie()[0]!.split(';')[0]!)
  const colleague = await dashboard.signIn(tenantId, 'viewer')
  const theirs = new Browser(dashboard.origin, colleague.cookie)
  const actionsOf = async (who: Browser) =>
    [...(await who.get(path)).text.matchAll(/action="([^"]+\/end)"/g)].map(([, action]) => action!)
  const actions = await actionsOf(browser)
  const rowsOf = async (who: Browser) => (await who.get(path)).text.split('<tr').slice(2)
  const marked = async (who: Browser) => (await rowsOf(who)).map((row) => row.includes('(this session)'))
  expect([await marked(browser), await marked(other)]).toEqual([
    [false, true],
    [true, false],
  ])
  expect([actions.length, (await actionsOf(theirs)).length]).toEqual([2, 1])
  for (const action of actions) expect((await theirs.post(action, {})).status).toBe(403)
  // The one begun last stands first. Sent several times at once, it is told once.
  const form = hiddenFields((await browser.get(path)).text, actions[0]!)
  const sent = await Promise.all(Array.from({ length: 6 }, () => browser.post(actions[0]!, form)))
  expect(new Set(sent.map(({ location }) => location))).toEqual(new Set([path]))
  expect([(await other.get(path)).status, (await actionsOf(browser)).length]).toEqual([303, 1])
  for (const environment of ['sandbox', 'live']) {
    const { rows } = await query(
      `SELECT actor_id, target_id, ip FROM ${environment}.audit_log WHERE tenant_id = $1 AND action = 'member.session_ended'`,
    )
    expect(rows).toEqual([{ actor_id: owner.memberId, target_id: owner.memberId, ip: '127.0.0.1' }])
  }
})
