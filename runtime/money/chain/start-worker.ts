/** When the worker of a chain looks. What it needs to sign and send is loaded with the first transfer. */
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
 * Starts a worker that takes turns for the chain as a whole, because payments of an account must be sent in the order of their
 * nonces: the round (round.ts) leases the account and isolates payments itself. After a turn in which a chain of our own has
 * moved, the next turn follows at once.
 *
 * @param pollMs how late something new is found, in milliseconds.
 */
export function startChainWorker(options: ChainWorkerOptions, pollMs?: number): Pick<DeclaredWorker, 'stop'> {
  const { chainId, control, pools, log } = options
  let worker: ChainWorker | undefined
  const queue = defineWorker<number>(
    { ...options, database: { ...pools, control } },
    {
      name: 'chain_transfers',
      // One worker sends for all environments that are paid on the chain.
      environments: options.environments.slice(0, 1),
      ...(pollMs !== undefined && { pollMs }),
      find: async ({ now }) => ((await hasWork(options, now)) ? [chainId] : []),
      itemOf: () => ({ space: '', id: `${chainId}` }),
      async perform() {
        const { createChainWorker } = await import('./worker.ts')
        worker ??= createChainWorker(options)
        return (await worker.look()) ? 'more' : 'idle'
      },
      isolate: async (_, err) => log.error({ err }, 'payouts are not sent; they are tried again'),
    },
  )
  queue.start()
  return {
    async stop() {
      await queue.stop()
      await worker?.close()
    },
  }
}
