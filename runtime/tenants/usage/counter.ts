/**
 * Counts lines in memory, and adds them to a table in batches. Each batch counts only once, even if it is sent twice.
 */
import { randomBase62 } from '../keys/keys.ts'

/** A batch, with an ID that makes it count only once. */
export interface UsageBatch<Line> {
  readonly id: string
  readonly lines: readonly Line[]
}

export interface Counter<Line> {
  /** @param index identifies the line. @param first creates the line. @param again adds to the existing line. */
  count(index: string, first: () => Line, again: (line: Line) => void): void
  /** Sends the counted lines. If that fails, rejects and keeps them for the next call. */
  flush(add: (batch: UsageBatch<Line>) => Promise<unknown>): Promise<void>
  /** Number of counts that were dropped because there were too many lines. */
  dropped(): number
}

/** @param most maximum number of lines between two flushes. */
export function createCounter<Line>(most = Number.POSITIVE_INFINITY): Counter<Line> {
  let lines = new Map<string, Line>()
  let dropped = 0
  /** A batch that was sent with an unknown result. It is sent again before any other batch. */
  let unsure: UsageBatch<Line> | undefined
  let running: Promise<void> = Promise.resolve()

  const send = async (add: (batch: UsageBatch<Line>) => Promise<unknown>) => {
    while (unsure || lines.size > 0) {
      if (!unsure) {
        unsure = { id: randomBase62(22), lines: [...lines.values()] }
        lines = new Map()
      }
      await add(unsure)
      unsure = undefined
    }
  }
  return {
    count(index, first, again) {
      const line = lines.get(index)
      if (line) again(line)
      else if (lines.size < most) lines.set(index, first())
      else dropped += 1
    },
    flush(add) {
      running = running.catch(() => {}).then(() => send(add)) // the caller of the earlier flush got its error
      return running
    },
    dropped: () => dropped,
  }
}
