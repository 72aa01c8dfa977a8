/** Looks at pages as axe does; its script has to be in them. */
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

/** What axe finds of the page as it is shown now, and whether it is wider than the screen. @param rules all where absent. */
export async function examine(page: Page, rules?: readonly string[]): Promise<string[]> {
  const options = {
    resultTypes: ['violations'],
    preload: false,
    iframes: false,
    ...(rules && { runOnly: rules }),
  }
  const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults
  const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
  return (await isTooWide(page)) ? [...found, 'wider than the screen'] : found
}

export const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth')
