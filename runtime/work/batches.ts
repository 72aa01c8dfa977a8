import { setTimeout as wait } from 'node:timers/promises'
import { mayPass } from '../database/errors.ts'

/** Collects items to write. While one batch is being written, the next one fills. */
export interface Batches<Item, Written> {
  /**
   * Resolves with the result of the item's batch. Rejects if the item cannot be written, or after `abandon` if the
   * database is unavailable.
   */
  add(item: Item): Promise<Written>
  /** Stops retrying. Items that cannot be written now are rejected. */
  abandon(): void
}

interface Waiting<Item, Written> {
  readonly item: Item
  readonly resolve: (written: Written) => void
  readonly reject: (reason: unknown) => void
}

export interface BatchesOptions<Item, Written> {
  readonly write: (items: readonly Item[]) => Promise<Written>
  /** Maximum number of items in a batch. */
  readonly size: number
  /** Maximum number of concurrent batches. */
  readonly atOnce: number
  /**
   * Minimum number of items for a batch while another one is being written. A few large batches cost less than many
   * small ones. Default: 1.
   */
  readonly worth?: number
  /** Items of different groups are never in the same batch. */
  readonly groupOf?: (item: Item) => string
  /** Pause before a batch is retried, in milliseconds. */
  readonly pauseMs: number
}

/**
 * Writes in batches. If the database is unavailable, retries the batch until it succeeds. If a batch fails for a
 * different reason, writes its items one by one, so that a single bad item fails alone.
 */
export function createBatches<Item, Written>(options: BatchesOptions<Item, Written>): Batches<Item, Written> {
  const { write, size, atOnce, worth = 1, groupOf = () => '', pauseMs } = options
  const abandoned = new AbortController()
  let waiting: Waiting<Item, Written>[] = []
  let inProgress = 0

  const tryOn = async (items: readonly Item[]): Promise<Written> => {
    for (;;) {
      try {
        return await write(items)
      } catch (error) {
        if (!mayPass(error) || abandoned.signal.aborted) throw error
        // After `abandon`, retry immediately for the last time.
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
    inProgress += 1
    // Includes all items added in this event loop tick.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length >= (inProgress === 1 ? 1 : worth)) {
      const group = groupOf(waiting[0]!.item)
      const batch = waiting.filter(({ item }) => groupOf(item) === group).slice(0, size)
      const taken = new Set(batch)
      waiting = waiting.filter((each) => !taken.has(each))
      await settle(batch)
    }
    inProgress -= 1
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        if (inProgress === 0 || (inProgress < atOnce && waiting.length >= worth)) go().catch(reject)
      }),
    abandon: () => abandoned.abort(),
  }
}
