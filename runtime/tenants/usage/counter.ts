/** Lines that are counted in memory and added to a table in batches, each of which counts once. */
import { randomBase62 } from '../keys/keys.ts'

/** A batch under the name that makes it count once, however often it is sent. */
export interface UsageBatch<Line> {
  readonly id: string
  readonly lines: readonly Line[]
}

export interface Counter<Line> {
  /** @param index what tells the line from others. @param again adds to the line that is there. */
  count(index: string, first: () => Line, again: (line: Line) => void): void
  /** Adds what has been counted. What could not be added stays counted and is thrown at. */
  flush(add: (batch: UsageBatch<Line>) => Promise<unknown>): Promise<void>
  /** How often a line had no room. */
  dropped(): number
}

/** @param most lines that are held between two flushes; what would need another is left out. */
export function createCounter<Line>(most = Number.POSITIVE_INFINITY): Counter<Line> {
  let lines = new Map<string, Line>()
  let dropped = 0
  /** Sent, but not known to have arrived: the same lines go again before any other. */
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
      running = running.catch(() => {}).then(() => send(add)) // who asked before has heard of it
      return running
    },
    dropped: () => dropped,
  }
}
