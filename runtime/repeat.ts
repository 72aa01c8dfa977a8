export interface Repeating {
  /** Resolves when nothing more is done. */
  stop(): Promise<void>
}

/** Works every so often, never twice at once: who is not done is left alone. `failed` hears of each failure. */
export function repeat(
  work: () => Promise<void>,
  pauseMs: number,
  failed: (error: unknown) => void,
): Repeating {
  let running: Promise<void> | undefined
  const timer = setInterval(() => {
    running ??= work()
      .catch(failed)
      .finally(() => {
        running = undefined
      })
  }, pauseMs)
  timer.unref()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
