import { setTimeout as wait } from 'node:timers/promises'
import { mayPass } from '../database/errors.ts'

/** Collects what is to be written: while one batch is under way the next one gathers. */
export interface Batches<Item, Written> {
  /** Resolves with what the write of the item's batch gave; rejects when it can never be written, or after `abandon`. */
  add(item: Item): Promise<Written>
  /** Stops trying again: what cannot be written now is given up. */
  abandon(): void
}

interface Waiting<Item, Written> {
  readonly item: Item
  readonly resolve: (written: Written) => void
  readonly reject: (reason: unknown) => void
}

export interface BatchesOptions<Item, Written> {
  readonly write: (items: readonly Item[]) => Promise<Written>
  /** Items of one batch at most. */
  readonly size: number
  /** Batches under way at once. */
  readonly atOnce: number
  /** Fewer items wait for the batch under way: a few large ones cost less than many. Default: 1. */
  readonly worth?: number
  /** Items of different groups never go together. */
  readonly groupOf?: (item: Item) => string
  /** Before the same batch is tried again. */
  readonly pauseMs: number
}

/**
 * Writes in batches. While the database is away a batch is tried again and again. One that fails for another reason is
 * written item by item, so that a single bad one fails alone.
 */
export function createBatches<Item, Written>(options: BatchesOptions<Item, Written>): Batches<Item, Written> {
  const { write, size, atOnce, worth = 1, groupOf = () => '', pauseMs } = options
  const abandoned = new AbortController()
  let waiting: Waiting<Item, Written>[] = []
  let underWay = 0

  const tryOn = async (items: readonly Item[]): Promise<Written> => {
    for (;;) {
      try {
        return await write(items)
      } catch (error) {
        if (!mayPass(error) || abandoned.signal.aborted) throw error
        // Aborted: once more at once, for the last time.
        await wait(pauseMs, undefined, { signal: abandoned.signal }).catch(() => {})
      }
    }
  }

  const settle = async (batch: readonly Waiting<Item, Written>[]): Promise<void> => {
    try {
      const written = await tryOn(batch.map(({ item }) => item))
      for (const { resolve } of batch) resolve(written)
    } catch (error) {
      if (batch.length === 1 || mayPass(error)) for (const { reject } of batch) reject(error)
      else for (const each of batch) await settle([each])
    }
  }

  const go = async () => {
    underWay += 1
    // What became known in this tick of the event loop goes together.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length >= (underWay === 1 ? 1 : worth)) {
      const group = groupOf(waiting[0]!.item)
      const batch = waiting.filter(({ item }) => groupOf(item) === group).slice(0, size)
      const taken = new Set(batch)
      waiting = waiting.filter((each) => !taken.has(each))
      await settle(batch)
    }
    underWay -= 1
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        if (underWay === 0 || (underWay < atOnce && waiting.length >= worth)) go().catch(reject)
      }),
    abandon: () => abandoned.abort(),
  }
}
