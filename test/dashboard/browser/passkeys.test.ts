/** Passkeys in a real browser, with a device that it has in memory. */
import { Buffer } from 'node:buffer'
import type { Browser as Chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChromium } from '../../support/chromium.ts'
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

/** A browser with a device of its own; without scripts, the page without them. */
async function open({ scripts = true, cookie = '' } = {}) {
  const context = await chromium.newContext({ javaScriptEnabled: scripts })
  const [name, value] = cookie.split('=', 2)
  if (name && value) await context.addCookies([{ name, value, url: dashboard.origin }])
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  const devices = await context.newCDPSession(page)
  await devices.send('WebAuthn.enable')
  const { authenticatorId } = await devices.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
  return { page, context, complaints, devices, authenticatorId }
}

test('a member adds a passkey and signs in with it', async () => {
  const { page, context, complaints, devices, authenticatorId } = await open({ cookie: owner.cookie })
  await page.goto(`${dashboard.origin}/sandbox/security`)
  const adding = page.locator('form[data-passkey]')
  await adding.getByLabel('Passkey name').fill('Laptop')
  await adding.getByLabel('Authenticator code').fill(owner.code())
  await adding.getByRole('button').click()
  await page.getByText('Passkey added.').waitFor()
  const { credentials } = await devices.send('WebAuthn.getCredentials', { authenticatorId })
  const users = credentials.map(({ userHandle }) => Buffer.from(userHandle ?? '', 'base64').toString())
  expect(users).toEqual([`${owner.tenantId}.${owner.memberId}`])

  await context.clearCookies()
  await page.goto(`${dashboard.origin}/sandbox/security`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByRole('heading', { name: 'Laptop' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/sandbox/security')
  expect(complaints).toEqual([])
})

test('a browser whose device knows nobody says so, and the page stays', async () => {
  const { page } = await open()
  await page.goto(`${dashboard.origin}/sign-in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.getByText('No passkey was used.').waitFor({ timeout: 60_000 })
  await page.getByLabel('Password').fill('still here')
})

test('passkeys are not offered without scripts where one signs in, and are explained where one would add them', async () => {
  const { page } = await open({ scripts: false, cookie: owner.cookie })
  await page.goto(`${dashboard.origin}/sign-in`)
  expect(await page.getByRole('button', { name: /passkey/ }).count()).toBe(0)
  await page.goto(`${dashboard.origin}/sandbox/security`)
  expect(await page.getByRole('button', { name: 'Add passkey' }).count()).toBe(0)
  const said = page.locator('noscript')
  expect([await said.isVisible(), await said.innerText()]).toEqual([
    true,
    expect.stringContaining('enable JavaScript'),
  ])
})
