/** Divides the records of large files between this thread and others. */
import { statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { SplitRecord } from '../replay/records.ts'
import type { Replayer, ReplayResult, TrafficFile } from '../replay/replayer.ts'
import type { ReplayCommandOptions } from './replay-versions.ts'

/** Records of one file, as one piece of memory that is moved to a thread. */
interface RecordBatch {
  readonly file: TrafficFile
  readonly bytes: Uint8Array<ArrayBuffer>
  /** End of each record in `bytes`. */
  readonly ends: readonly number[]
  /** Numbers of each record in its file, and among all files. */
  readonly numbers: readonly (readonly [at: number, order: number])[]
}

export interface ReplayWorkerData {
  readonly config: string
  readonly options: ReplayCommandOptions
}

/** A message without a batch asks for the result. */
export interface ReplayRequest {
  readonly batch?: RecordBatch
}

/** Has the result if the request asked for it; otherwise the batch is replayed. */
export interface ReplayResponse {
  readonly result?: ReplayResult
}

interface ReplayThread {
  /** Number of batches that wait. */
  waiting(): number
  send(batch: RecordBatch): void
  /** Returns what the thread counted, and ends it. */
  end(): Promise<ReplayResult>
}

/** Bytes of traffic below which starting a thread takes longer than it saves. */
const WORTH_A_THREAD = 32_000_000

/** Each thread holds the versions, about 90 MB. */
const MAX_THREADS = 2

/** Starts a thread for each further core, if the files are large. */
export function startThreads(files: readonly string[], data: ReplayWorkerData): readonly ReplayThread[] {
  const bytes = files.reduce((total, file) => total + statSync(file).size, 0)
  if (bytes < WORTH_A_THREAD) return []
  const count = Math.min(availableParallelism() - 1, MAX_THREADS)
  return Array.from({ length: count }, () => startThread(data))
}

/** Starts a thread that loads the versions and waits for batches. */
export function startThread(workerData: ReplayWorkerData): ReplayThread {
  const worker = new Worker(new URL('./replay-worker.ts', import.meta.url), { workerData })
  // A replay that fails does not wait for its threads.
  worker.unref()
  let waiting = 0
  const result = new Promise<ReplayResult>((resolve, reject) => {
    worker.on('error', reject)
    worker.on('message', ({ result: found }: ReplayResponse) => {
      waiting--
      if (found) resolve(found)
    })
  })
  // `end` rejects with the failure.
  result.catch(() => undefined)
  return {
    waiting: () => waiting,
    send(batch) {
      waiting++
      worker.postMessage({ batch } satisfies ReplayRequest, [batch.bytes.buffer])
    },
    end() {
      worker.ref()
      worker.postMessage({} satisfies ReplayRequest)
      return result
    },
  }
}

/** Batches that may wait for one thread. */
const MAX_WAITING = 2

interface PendingRecord {
  readonly record: SplitRecord
  readonly at: number
  readonly order: number
}

/** Collects records, and gives them to a thread that has room, or else to this one. */
export function createBatches(file: TrafficFile, here: Replayer, threads: readonly ReplayThread[]) {
  let pending: PendingRecord[] = []
  return {
    add(record: SplitRecord, at: number, order: number): void {
      if (threads.length === 0) here.replay(file, record, at, order)
      else pending.push({ record, at, order })
    },
    /** Resolves when the records are replayed, or a thread has them. */
    async flush(): Promise<void> {
      if (pending.length === 0) return
      const all = pending
      pending = []
      const free = threads.find((thread) => thread.waiting() < MAX_WAITING)
      const records = all.map(({ record }) => record)
      if (free && records.every(Buffer.isBuffer))
        return free.send({ file, ...joined(records), numbers: all.map(({ at, order }) => [at, order]) })
      for (const { record, at, order } of all) here.replay(file, record, at, order)
      // Lets messages of the threads arrive.
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

/** Joins records to one piece of memory. */
function joined(records: readonly Buffer[]): Pick<RecordBatch, 'bytes' | 'ends'> {
  const bytes = new Uint8Array(records.reduce((total, { length }) => total + length, 0))
  const ends: number[] = []
  let end = 0
  for (const record of records) {
    bytes.set(record, end)
    end += record.length
    ends.push(end)
  }
  return { bytes, ends }
}
