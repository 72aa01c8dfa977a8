/** Starts the worker of a chain. The code for signing and sending is loaded with the first transfer. */
import { stopInTurn } from '../../platform/stopping.ts'
import { type DeclaredWorker, defineWorker } from '../../work/workers.ts'
import { findOpenAccounts } from './payment-queries.ts'
import { findDueTransfers } from './transfer-queries.ts'
import type { ChainWorker, ChainWorkerOptions } from './worker.ts'

async function hasWork({ control, chainId, environments, pools }: ChainWorkerOptions, now: number) {
  const due = environments.map((each) => findDueTransfers(pools[each], now, 1))
  const found = await Promise.all([findOpenAccounts(control, chainId), ...due])
  return found.some(({ length }) => length > 0)
}

/**
 * Starts a worker for a chain. A turn covers the whole chain, because payments of an account must be sent in the order of
 * their nonces: the round (round.ts) leases the account and isolates failing payments. If the built-in test chain has
 * advanced, the next turn follows immediately.
 * @param pollMs maximum delay until new work is found, in milliseconds.
 */
export function startChainWorker(options: ChainWorkerOptions, pollMs?: number): Pick<DeclaredWorker, 'stop'> {
  const { chainId, control, pools, log } = options
  let worker: ChainWorker | undefined
  const queue = defineWorker<number>(
    { ...options, database: { ...pools, control } },
    {
      name: 'chain_transfers',
      // One worker sends for all environments that use the chain.
      environments: options.environments.slice(0, 1),
      ...(pollMs !== undefined && { pollMs }),
      find: async ({ now }) => ((await hasWork(options, now)) ? [chainId] : []),
      itemOf: () => ({ space: '', id: `${chainId}` }),
      async perform() {
        const { createChainWorker } = await import('./worker.ts')
        worker ??= createChainWorker(options)
        return (await worker.look()) ? 'more' : 'idle'
      },
      isolate: async (_, err) => log.error({ err }, 'Payouts could not be sent; they are retried.'),
    },
  )
  queue.start()
  return {
    stop: () => stopInTurn([queue.stop, () => worker?.close()]),
  }
}
