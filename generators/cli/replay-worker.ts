/** Thread of `replay`: loads the versions itself, because changes have functions, and replays batches of records. */
import { parentPort, workerData } from 'node:worker_threads'
import { createReplayer, type Replayer } from '../replay/replayer.ts'
import type { ReplayRequest, ReplayResponse, ReplayWorkerData } from './replay-threads.ts'
import { loadVersions, readingOf } from './replay-versions.ts'
import { openRun } from './run.ts'

const { config, options } = workerData as ReplayWorkerData
const silent = { out: () => undefined, error: () => undefined }

async function createOwn(): Promise<Replayer> {
  const run = await openRun(config, silent)
  return createReplayer(await loadVersions(run, options), readingOf(run.config, options))
}

const replayer = createOwn()
const respond = (response: ReplayResponse) => parentPort?.postMessage(response)

parentPort?.on('message', ({ batch }: ReplayRequest) => {
  replayer.then(
    (own) => {
      if (!batch) {
        respond({ result: own.result() })
        parentPort?.close()
        return
      }
      const { file, bytes, ends, numbers } = batch
      let start = 0
      for (const [index, [at, order]] of numbers.entries()) {
        const end = ends[index]!
        own.replay(file, Buffer.from(bytes.buffer, start, end - start), at, order)
        start = end
      }
      respond({})
    },
    // Becomes an `error` event of the worker.
    (error: unknown) => {
      throw error
    },
  )
})
