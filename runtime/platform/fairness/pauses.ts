/** Items of a batch after which others are let in: so many take about a millisecond. */
export const PAUSE_AFTER = 20

/** Resolves when the event loop has looked after everybody else. */
export function letOthersIn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
