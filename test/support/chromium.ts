import type { Browser } from 'playwright-core'

/** Debian's name for it. */
export const CHROMIUM = 'chromium'

/** The machine's own browser, without a window. Without its sandbox too: it shows pages of ours only, and root has none. */
export async function startChromium(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  const executablePath = `/usr/bin/${CHROMIUM}`
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
