/** When the worker of a chain looks. What it needs to sign and send is loaded with the first transfer. */
import { type PeriodicJob, runPeriodically } from '../../platform/periodic.ts'
import { findOpenAccounts } from './payment-queries.ts'
import { findDueTransfers } from './transfer-queries.ts'
import type { ChainWorker, ChainWorkerOptions } from './worker.ts'

const POLL_MS = 1000

/** Looks that follow at once upon one after which a chain of our own has moved. */
const MAX_LOOKS = 100

async function hasWork({
  control,
  chainId,
  environments,
  pools,
  clock,
}: ChainWorkerOptions): Promise<boolean> {
  const due = environments.map((each) => findDueTransfers(pools[each], clock.machine(), 1))
  const found = await Promise.all([findOpenAccounts(control, chainId), ...due])
  return found.some(({ length }) => length > 0)
}

/**
 * Looks every so often, and again at once as long as a chain of our own moves.
 *
 * @param pollMs how late something new is found, in milliseconds.
 */
export function startChainWorker(options: ChainWorkerOptions, pollMs = POLL_MS): PeriodicJob {
  let worker: ChainWorker | undefined
  let stopping = false
  const work = async () => {
    if (!worker) {
      if (!(await hasWork(options))) return
      const { createChainWorker } = await import('./worker.ts')
      worker = createChainWorker(options)
    }
    for (let looks = 0; looks < MAX_LOOKS && !stopping; looks += 1) if (!(await worker.look())) return
  }
  const job = runPeriodically(work, {
    pauseMs: pollMs,
    failed: (err) => options.log.error({ err }, 'payouts are not sent; they are tried again'),
  })
  return {
    stop: async () => {
      stopping = true
      await job.stop()
      await worker?.close()
    },
  }
}
