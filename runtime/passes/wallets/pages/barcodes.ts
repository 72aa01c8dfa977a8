import { Worker } from 'node:worker_threads'
import { unavailable } from '../../../api/errors/errors.ts'
import { createFairQueue } from '../../../platform/fairness/fair-queue.ts'
import type { Barcode, DrawnBarcode } from '../render/page/barcode.ts'

type Drawing = Promise<DrawnBarcode | undefined>

export interface Barcodes {
  /**
   * @param tenantId whose turn it takes.
   * @returns undefined where the format cannot hold the message. @throws `unavailable` when the tenant has too many waiting.
   */
  draw(tenantId: string, barcode: Barcode): Drawing
  stop(): Promise<void>
}

/** Of 60 KB at most, for who looks at a page looks again. */
const MAX_KEPT = 200

/** A few seconds of the thread. */
const MAX_WAITING = 100

/** One is drawn, and the next is at hand. */
const PLACES = 2

/**
 * Draws in a thread, so that requests of others go on meanwhile, for one tenant after the other. The thread starts with the
 * first barcode: a process that serves no pages has none.
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
      // Used last, deleted last.
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

/** @param ended is called when it draws no more. */
function startThread(ended: () => void): Thread {
  const worker = new Worker(new URL('barcode-thread.ts', import.meta.url))
  const waiting: { resolve: (drawn: DrawnBarcode | undefined) => void; reject: (error: unknown) => void }[] =
    []
  const fail = (error: unknown) => {
    ended()
    for (const each of waiting.splice(0)) each.reject(error)
  }
  // It keeps no process from ending.
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
