/** Does a task in a browser as a person does, and counts what the person does. */
import { statSync } from 'node:fs'
import type { Locator, Page } from 'playwright-core'

/** One thing that a person does. Texts are those that the page shows. */
export type Step =
  /** Opens a page from the menu. Opening its group counts too. */
  | { readonly menu: string }
  /** Clicks a link or button. */
  | { readonly click: string }
  /** Clicks a link, and gets a file that is not empty. */
  | { readonly download: string }
  /** Opens the first table row that has the text. */
  | { readonly row: string }
  /** Types into the field with the label. */
  | { readonly type: string; readonly into: string }
  /** Chooses an option of a select, or a radio button or checkbox. */
  | { readonly choose: string; readonly of?: string }
  /** Types into a field with suggestions and takes the one that has the text. */
  | { readonly pick: string; readonly into: string }
  /** Presses Ctrl-K, types, and opens the first result that has the text. */
  | { readonly search: string }
  /** Copies a code from the authenticator app into the field that asks for it. */
  | { readonly code: 'typed' }

export interface Effort {
  /** Clicks on links, buttons, options, and suggestions, and forms that Enter sends. */
  readonly clicks: number
  /** Fields that are typed into. */
  readonly fields: number
}

/** What a person has at hand beside the browser. */
export interface Person {
  /** Reads a new code from the authenticator app. */
  code(): Promise<string>
  /** ID of a request from a developer's log. A search for `{request}` is a search for it. */
  readonly requestId: string
}

const WAIT_MS = 5000

/** Does the steps, starting at the home page, and waits for the text that shows that the task is done. */
export async function perform(
  page: Page,
  origin: string,
  { steps, shows }: { readonly steps: readonly Step[]; readonly shows: string | RegExp },
  person: Person,
): Promise<Effort> {
  page.setDefaultTimeout(WAIT_MS)
  await page.goto(`${origin}/sandbox`)
  const effort = { clicks: 0, fields: 0 }
  for (const step of steps) {
    const { clicks, fields } = await take(page, step, person)
    effort.clicks += clicks
    effort.fields += fields
    await page.waitForLoadState()
  }
  await page.locator('body').getByText(shows).first().waitFor()
  return effort
}

async function take(page: Page, step: Step, person: Person): Promise<Effort> {
  if ('menu' in step) return openFromMenu(page, step.menu)
  if ('click' in step) return click(clickable(page.locator('main, header.bar'), step.click))
  if ('download' in step) return download(page, step.download)
  if ('row' in step)
    return click(page.getByRole('row').filter({ hasText: step.row }).first().getByRole('link'))
  if ('type' in step) {
    await page.getByRole('main').getByLabel(step.into).first().fill(step.type)
    return { clicks: 0, fields: 1 }
  }
  if ('choose' in step) {
    if (step.of !== undefined)
      await page.getByRole('main').getByLabel(step.of).first().selectOption(step.choose)
    else await page.getByRole('main').getByLabel(step.choose).first().check()
    return { clicks: 1, fields: 0 }
  }
  if ('pick' in step) return pick(page, step.into, step.pick)
  if ('search' in step) return search(page, step.search.replace('{request}', person.requestId))
  await page
    .getByRole('main')
    .getByLabel('Authenticator code')
    .fill(await person.code())
  return { clicks: 0, fields: 1 }
}

async function click(target: Locator): Promise<Effort> {
  await target.first().click()
  return { clicks: 1, fields: 0 }
}

/** Links, buttons, and things that unfold whose name has the text. */
const clickable = (within: Locator, name: string): Locator =>
  within
    .getByRole('link', { name })
    .or(within.getByRole('button', { name }))
    .or(within.locator('summary', { hasText: name }))

async function download(page: Page, name: string): Promise<Effort> {
  const [file, effort] = await Promise.all([
    page.waitForEvent('download'),
    click(clickable(page.getByRole('main'), name)),
  ])
  if (statSync(await file.path()).size === 0) throw new Error(`${file.suggestedFilename()} is empty`)
  return effort
}

async function search(page: Page, text: string): Promise<Effort> {
  await page.keyboard.press('Control+k')
  await page.keyboard.type(text)
  const before = page.url()
  const found = page.getByRole('option').filter({ hasText: text })
  await found.first().waitFor()
  const exact = found.filter({ has: page.getByText(text, { exact: true }) })
  await ((await exact.count()) > 0 ? exact : found).first().click()
  await page.waitForURL((url) => url.href !== before)
  return { clicks: 1, fields: 1 }
}

async function openFromMenu(page: Page, title: string): Promise<Effort> {
  const link = page.getByRole('link', { name: title, exact: true, includeHidden: true })
  const shown = page.locator('#menu').getByRole('link', { name: title, exact: true })
  const isHidden = !(await shown.isVisible())
  if (isHidden) await page.locator('#menu details').filter({ has: link }).locator('summary').click()
  await shown.click()
  return { clicks: isHidden ? 2 : 1, fields: 0 }
}

async function pick(page: Page, into: string, text: string): Promise<Effort> {
  await page.getByRole('main').getByLabel(into).first().fill(text)
  await page.getByRole('option').filter({ hasText: text }).first().click()
  return { clicks: 1, fields: 1 }
}
