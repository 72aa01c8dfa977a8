import type { Browser } from 'playwright-core'

/** Name of the Debian package and program. */
export const CHROMIUM = 'chromium'

/**
 * Starts the Chromium of the machine, headless. Without its sandbox, which root cannot use; the tests show only pages
 * of the service.
 */
export async function startChromium(): Promise<Browser> {
  const { chromium } = await import('playwright-core')
  const executablePath = `/usr/bin/${CHROMIUM}`
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}
