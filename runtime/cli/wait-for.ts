import { setTimeout as wait } from 'node:timers/promises'

const PAUSE_MS = 200
const PATIENCE_MS = 30_000

/** What workers of the service bring about. Throws where it does not come about. */
export async function waitFor<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (let waited = 0; waited < PATIENCE_MS; waited += PAUSE_MS) {
    const found = await ask()
    if (found !== undefined) return found
    await wait(PAUSE_MS)
  }
  throw new Error(`waited in vain for ${what}: no worker of the service runs, or it is late`)
}
