/** Looks at pages as axe does. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { ROOT } from './programs.ts'

/** Minified, axe takes half the time to load into each page. */
const AXE = readFileSync(join(ROOT, 'node_modules/axe-core/axe.min.js'), 'utf8')

/** Puts axe into the page that is open. `examine` needs it. */
export const loadAxe = (page: Page): Promise<unknown> => page.evaluate(AXE)

/** Rules that can find something else in another color scheme. All others read what is in the document. They take most of axe's time. */
export const OF_COLORS = ['color-contrast']

/** Which rules of axe to apply: all, only some, or all except some, and some that axe applies only if it is told to. */
export interface Rules {
  readonly also?: readonly string[]
  readonly only?: readonly string[]
  readonly except?: readonly string[]
}

/** What axe finds of the page as it is shown now, and whether it is wider than the screen. */
export async function examine(page: Page, { also = [], only, except = [] }: Rules = {}): Promise<string[]> {
  const options = {
    resultTypes: ['violations'],
    preload: false,
    iframes: false,
    rules: Object.fromEntries([
      ...also.map((rule) => [rule, { enabled: true }]),
      ...except.map((rule) => [rule, { enabled: false }]),
    ]),
    ...(only && { runOnly: only }),
  }
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults
  const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
  return (await isTooWide(page)) ? [...found, 'wider than the screen'] : found
}

export const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth')
