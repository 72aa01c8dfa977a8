/** Signs a browser in to a service with the demo data. */
import { setTimeout as wait } from 'node:timers/promises'
import { TOTP } from 'otpauth'
import type { Page } from 'playwright-core'
import type { DemoReady } from '../../demo/service.ts'

const STEP_MS = 30_000

/** An authenticator app whose codes are each used once. Codes of the previous and next half minute are valid too. */
export function openAuthenticator(secret: string): () => Promise<string> {
  const totp = new TOTP({ secret })
  const current = () => Math.floor(Date.now() / STEP_MS)
  let step = current() - 2
  return async () => {
    step = Math.max(step + 1, current() - 1)
    await wait(Math.max(0, (step - 1) * STEP_MS - Date.now()))
    return totp.generate({ timestamp: step * STEP_MS })
  }
}

/** @param code reads a new code from the authenticator app. */
export async function signIn(
  page: Page,
  { console_url, dashboard }: DemoReady,
  code: () => Promise<string>,
): Promise<void> {
  await page.goto(`${console_url}/sign-in`)
  await page.getByLabel('Email').first().fill(dashboard.email)
  await page.getByLabel('Password').first().fill(dashboard.password)
  const form = page.locator('form').filter({ has: page.locator('input[name=password]') })
  const codeField = page.locator('input[name=code]')
  if (await codeField.isVisible()) await codeField.fill(await code())
  await form.locator('button[type=submit]').click()
  await page.waitForURL(/\/(sandbox|sign-in)/)
  if (!page.url().includes('/sandbox')) {
    await codeField.fill(await code())
    await page.locator('main button[type=submit]').first().click()
    await page.waitForURL(/\/sandbox/)
  }
}
