export interface Repeating {
  /** Resolves when nothing more is done. */
  stop(): Promise<void>
}

export interface RepeatOptions {
  readonly pauseMs: number
  /** Hears of each failure; the next time comes all the same. */
  readonly failed: (error: unknown) => void
  /** Whether to begin without a pause. */
  readonly atOnce?: boolean
}

/** Works every so often, never twice at once: who is not done is left alone. */
export function repeat(
  work: () => Promise<void>,
  { pauseMs, failed, atOnce = false }: RepeatOptions,
): Repeating {
  let running: Promise<void> | undefined
  const go = () => {
    running ??= work()
      .catch(failed)
      .finally(() => {
        running = undefined
      })
  }
  const timer = setInterval(go, pauseMs)
  timer.unref()
  if (atOnce) go()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
