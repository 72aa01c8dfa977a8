/** What members sign in with, changed on their own page: the password, and recovery codes. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { removeMember } from '../../runtime/account/members/members.ts'
import { recognize } from '../../runtime/dashboard/sign-in/credentials.ts'
import { Browser, makeTenant, startDashboard, type TestDashboard, type Visitor } from './support/dashboard.ts'

const PAGE = '/sandbox/security'
const NEXT = 'another long password'

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
  browser = new Browser(dashboard.origin, owner.cookie)
})

const query = (text: string) => dashboard.service.database.control.query({ text }, [tenantId])

const save = async (password: string, next = NEXT, code?: string) =>
  browser.submit(PAGE, `${PAGE}/password`, {
    current: password,
    next,
    code: code ?? (await owner.freshCode()),
  })

async function makeCodes(): Promise<string[]> {
  const { status, text } = await browser.submit(PAGE, `${PAGE}/recovery-codes`, {
    code: await owner.freshCode(),
  })
  expect(status).toBe(200)
  return [...text.matchAll(/<li><code>([\d-]+)<\/code>/g)].map(([, code = '']) => code)
}

/** As the page of signing in does, with this tenant's member alone. */
async function isLetIn(password: string, code: string): Promise<boolean | 'recovered'> {
  const { operator, wrongCodes } = dashboard.watching
  const email = `${owner.memberId}@example.com`
  const rename = `UPDATE control.members SET email = id || '@example.com' WHERE tenant_id = $1`
  await query(rename)
  const recognition = await recognize({ ...operator, wrongCodes }, { email, password, code, ip: '127.0.0.1' })
  return recognition.right && recognition.recovered ? 'recovered' : recognition.right
}

const actions = async () => {
  const text = `SELECT action || ' ' || outcome AS action FROM live.audit_log
                WHERE tenant_id = $1 AND action !~ 'created$' ORDER BY sequence`
  return (await query(text)).rows.map((row) => (row as { action: string }).action)
}

test('a page of the dashboard is not compressed: its length would tell of secrets beside what was typed', async () => {
  const { headers } = await fetch(dashboard.origin + PAGE, {
    headers: { Cookie: owner.cookie, 'Accept-Encoding': 'gzip' },
  })
  expect([Number(headers.get('Content-Length')) > 1024, headers.get('Content-Encoding')]).toEqual([
    true,
    null,
  ])
})

test('a password is changed with the one before and a code; other sessions end, this one stays', async () => {
  const other = await fetch(`${dashboard.origin}/begin/${tenantId}/${owner.memberId}`)
  const elsewhere = new Browser(dashboard.origin, other.headers.getSetCookie()[0]!.split(';')[0]!)
  expect((await elsewhere.get(PAGE)).status).toBe(200)

  expect((await save('not the password')).status).toBe(403)
  expect((await save(owner.password, NEXT, '000000')).status).toBe(403)
  const short = await save(owner.password, 'short')
  expect(short.text).toMatch(/id="next-fault">The password must have at least 12 characters/)
  expect(short.text).not.toContain(owner.password)
  expect(await isLetIn(owner.password, await owner.freshCode())).toBe(true)
  expect((await elsewhere.get(PAGE)).status).toBe(200)

  const { status, text } = await save(owner.password)
  expect([status, text]).toEqual([200, expect.stringContaining('Your password was changed')])
  expect((await browser.get(PAGE)).status).toBe(200)
  expect((await elsewhere.get(PAGE)).status).toBe(303)
  expect(await isLetIn(owner.password, await owner.freshCode())).toBe(false)
  expect(await isLetIn(NEXT, await owner.freshCode())).toBe(true)
  expect(await actions()).toEqual([
    'member.password_changed failed',
    'member.password_changed failed',
    'member.password_changed succeeded',
  ])
})

test('recovery codes are shown once, take the place of a code once each, and end with the next set', async () => {
  expect((await browser.get(PAGE)).text).toContain('You have no recovery codes.')
  const codes = await makeCodes()
  expect([codes.length, new Set(codes).size]).toEqual([10, 10])
  expect(codes.every((code) => /^\d{4}-\d{4}-\d{4}$/.test(code))).toBe(true)
  const shown = await browser.get(PAGE)
  expect(shown.text).toContain('10 of 10 codes left.')
  expect(codes.filter((code) => shown.text.includes(code))).toEqual([])

  expect(await isLetIn('not the password', codes[0]!)).toBe(false)
  expect(await isLetIn(owner.password, codes[0]!)).toBe('recovered')
  expect(await isLetIn(owner.password, codes[0]!)).toBe(false)
  expect(await isLetIn(owner.password, codes[1]!.replaceAll('-', ' '))).toBe('recovered')
  expect((await browser.get(PAGE)).text).toContain('8 of 10 codes left.')

  const [next] = await makeCodes()
  expect(await isLetIn(owner.password, codes[2]!)).toBe(false)
  expect(await isLetIn(owner.password, next!)).toBe('recovered')
  const made = 'member.recovery_codes_made succeeded'
  expect(await actions()).toEqual([made, made])
})

test('a change of security without a right code makes nothing, and after ten wrong ones none is checked', async () => {
  for (let count = 0; count < 10; count += 1) {
    const { status } = await browser.submit(PAGE, `${PAGE}/recovery-codes`, { code: '000000' })
    expect(status).toBe(403)
  }
  const { status } = await browser.submit(PAGE, `${PAGE}/recovery-codes`, { code: await owner.freshCode() })
  expect(status).toBe(403)
  expect((await browser.get(PAGE)).text).toContain('You have no recovery codes.')
})

test('one of 5 concurrent sign-ins with one recovery code is let in', async () => {
  const [code] = await makeCodes()
  await isLetIn(owner.password, '000000')
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => isLetIn(owner.password, code!)))
  expect(outcomes.filter((outcome) => outcome === 'recovered')).toHaveLength(1)
})

test('a member who is removed leaves no code behind', async () => {
  const viewer = await dashboard.signIn(tenantId, 'viewer')
  const own = new Browser(dashboard.origin, viewer.cookie)
  expect((await own.submit(PAGE, `${PAGE}/recovery-codes`, { code: viewer.code() })).status).toBe(200)
  const count = 'SELECT count(*)::integer AS count FROM control.recovery_codes WHERE tenant_id = $1'
  expect((await query(count)).rows).toEqual([{ count: 10 }])
  await removeMember(dashboard.service.operator, tenantId, viewer.memberId, owner.memberId)
  expect((await query(count)).rows).toEqual([{ count: 0 }])
})
