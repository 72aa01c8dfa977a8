/** A form sent after its session has ended, in a real browser: what was typed comes back, readable by everybody, and is sent by hand. */
import type { Browser as Chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChromium } from '../../support/chromium.ts'
import { examine, loadAxe } from '../../support/examine.ts'
import { makeTenant, startDashboard, type TestDashboard, type Visitor } from '../support/dashboard.ts'

let dashboard: TestDashboard
let chromium: Chromium
let owner: Visitor

beforeAll(async () => {
  ;[dashboard, chromium] = await Promise.all([startDashboard({ named: true }), startChromium()])
  owner = await dashboard.signIn(await makeTenant(dashboard.service), 'owner')
}, 180_000)

afterAll(async () => {
  await chromium?.close()
  await dashboard?.stop()
})

test.each(['light', 'dark'] as const)(
  'a form sent after its session ended comes back readable on a phone in %s mode',
  async (colorScheme) => {
    const options = { viewport: { width: 390, height: 900 }, colorScheme, bypassCSP: true }
    const context = await chromium.newContext(options)
    const begun = await fetch(`${dashboard.origin}/begin/${owner.tenantId}/${owner.memberId}`)
    const [name, value] = begun.headers.getSetCookie()[0]!.split(';')[0]!.split('=', 2)
    await context.addCookies([{ name: name!, value: value!, url: dashboard.origin }])
    const page = await context.newPage()
    const url = `https://93.184.215.14/${colorScheme}/${'typed'.repeat(30)}`
    await page.goto(`${dashboard.origin}/sandbox/webhook-endpoints/new`)
    await page.getByLabel('URL').fill(url)
    const { control } = dashboard.service.database
    await control.query({ text: 'DELETE FROM control.sessions WHERE tenant_id = $1' }, [owner.tenantId])
    await page.locator('form').getByRole('button', { name: 'Add webhook endpoint' }).click()
    await page.getByText('Your session has ended, and the form was not submitted.').waitFor()
    await loadAxe(page)
    expect(await examine(page)).toEqual([])
    await page.getByLabel('Email').fill(owner.email)
    await page.getByLabel('Password').fill(owner.password)
    await page.getByLabel('Authenticator code').fill(owner.code())
    await control.query({ text: 'DELETE FROM control.totp_uses WHERE tenant_id = $1' }, [owner.tenantId])
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Submit form again' }).waitFor()
    await page.getByText(url).waitFor()
    await loadAxe(page)
    expect(await examine(page)).toEqual([])
    await page.getByRole('button', { name: 'Submit form' }).click()
    await page
      .getByText(/whsec_/)
      .first()
      .waitFor()
    await context.close()
  },
)
