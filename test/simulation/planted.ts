/** Preloaded by the test of the simulation: asks the bank for a cent too much. */
import { registerHooks } from 'node:module'

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.endsWith('/money/payouts/bank-client.ts')) return loaded
    const source = String(loaded.source).replace(
      'JSON.stringify({ amount,',
      'JSON.stringify({ amount: amount + 1,',
    )
    return { ...loaded, source }
  },
})
