/** Items of a batch between two pauses. They take about a millisecond. */
export const PAUSE_AFTER = 20

/** Yields to the event loop. Resolves after other pending work. */
export function letOthersIn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Maximum length of one step, in milliseconds. */
const STEP_MS = 5

/** Divides long work on the event loop into steps. The work checks between two items whether to yield. */
export interface Steps {
  /** Whether the step has reached its maximum length. */
  readonly isOver: () => boolean
  /** Yields to the event loop, then starts the next step. */
  readonly next: () => Promise<void>
}

/**
 * Creates the steps for one piece of work.
 *
 * @example for (const item of many) { if (steps.isOver()) await steps.next(); work(item) }
 */
export function createSteps(): Steps {
  let end = performance.now() + STEP_MS
  return {
    isOver: () => performance.now() >= end,
    next: async () => {
      await letOthersIn()
      end = performance.now() + STEP_MS
    },
  }
}
