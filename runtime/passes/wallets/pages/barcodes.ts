import { Worker } from 'node:worker_threads'
import { unavailable } from '../../../api/errors/errors.ts'
import { createFairQueue } from '../../../platform/fairness/fair-queue.ts'
import type { Barcode, DrawnBarcode } from '../render/page/barcode.ts'

type Drawing = Promise<DrawnBarcode | undefined>

export interface Barcodes {
  /**
   * Draws a barcode, or returns it from the cache.
   *
   * @param tenantId the tenant whose turn in the queue it takes.
   * @returns undefined if the format cannot hold the message.
   * @throws `unavailable` if the queue is full and the tenant takes more than its share.
   */
  draw(tenantId: string, barcode: Barcode): Drawing
  stop(): Promise<void>
}

/** Cached barcodes, of at most 60 KB each. Holders often look at a page again. */
const MAX_KEPT = 200

/** Maximum number of waiting barcodes: a few seconds of work for the thread. */
const MAX_WAITING = 100

/** One barcode in progress and one queued at the thread. */
const PLACES = 2

/**
 * Creates the barcode service. Barcodes are drawn in a worker thread, so that they do not block the event loop, and
 * tenants take turns. The first barcode starts the thread.
 */
export function createBarcodes(): Barcodes {
  const kept = new Map<string, Drawing>()
  const queue = createFairQueue({ places: PLACES, share: 1 })
  let thread: Thread | undefined

  const drawInTurn = async (tenantId: string, barcode: Barcode): Drawing => {
    if (queue.load.waiting >= MAX_WAITING && queue.isCrowdedBy(tenantId)) throw unavailable()
    await new Promise<void>((start) => queue.acquire(tenantId, start))
    try {
      thread ??= startThread(() => {
        thread = undefined
      })
      return await thread.draw(barcode)
    } finally {
      queue.release(tenantId)
    }
  }

  return {
    draw(tenantId, barcode) {
      const key = `${barcode.format} ${barcode.message}`
      const drawing = kept.get(key) ?? drawInTurn(tenantId, barcode)
      // Reinserting keeps the map in order of use, so that the least recently used entry is evicted first.
      kept.delete(key)
      kept.set(key, drawing)
      drawing.catch(() => kept.delete(key))
      if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!)
      return drawing
    },
    stop: async () => thread?.stop(),
  }
}

interface Thread {
  draw(barcode: Barcode): Drawing
  stop(): Promise<void>
}

/** Starts the thread. @param ended called when the thread has ended. */
function startThread(ended: () => void): Thread {
  const worker = new Worker(new URL('barcode-thread.ts', import.meta.url))
  const waiting: { resolve: (drawn: DrawnBarcode | undefined) => void; reject: (error: unknown) => void }[] =
    []
  const fail = (error: unknown) => {
    ended()
    for (const each of waiting.splice(0)) each.reject(error)
  }
  // The thread must not keep the process alive.
  worker.unref()
  worker.on('message', (drawn: DrawnBarcode | undefined) => waiting.shift()?.resolve(drawn))
  worker.on('error', fail)
  worker.on('exit', () => fail(new Error('the thread that draws barcodes has ended')))
  return {
    draw: (barcode) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        worker.postMessage(barcode)
      }),
    stop: async () => void (await worker.terminate()),
  }
}
