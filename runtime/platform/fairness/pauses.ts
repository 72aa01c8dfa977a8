/** Items of a batch after which others are let in: so many take about a millisecond. */
export const PAUSE_AFTER = 20

/** Resolves when the event loop has looked after everybody else. */
export function letOthersIn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** How long others wait for one step of work that is done in steps, in milliseconds. */
const STEP_MS = 5

/** Long work on the event loop, in steps: between two items it is asked whether others are to be let in. */
export interface Steps {
  /** Whether the step has taken long enough. */
  readonly isOver: () => boolean
  /** Lets others in; the next step begins then. */
  readonly next: () => Promise<void>
}

/** @example for (const item of many) { if (steps.isOver()) await steps.next(); work(item) } */
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
