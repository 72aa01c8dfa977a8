import { setTimeout as wait } from 'node:timers/promises'

const PAUSE_MS = 200
const PATIENCE_MS = 30_000

/** Waits until the service's workers have produced a result. Throws after 30 s. */
export async function waitFor<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (let waited = 0; waited < PATIENCE_MS; waited += PAUSE_MS) {
    const found = await ask()
    if (found !== undefined) return found
    await wait(PAUSE_MS)
  }
  throw new Error(
    `timed out after ${PATIENCE_MS / 1000} s waiting for ${what}: check that the workers of the service are running`,
  )
}
