/** Work that repeats until it is stopped. */
export interface PeriodicJob {
  /** Prevents further runs. Resolves after the current one. */
  stop(): Promise<void>
}

export interface PeriodicOptions {
  readonly pauseMs: number
  /** Receives the error of a failed run. Further runs follow. */
  readonly failed: (error: unknown) => void
  /** Whether the first run starts immediately. */
  readonly atOnce?: boolean
}

/** Runs the work at an interval. Skips a run if the previous one is still in progress. */
export function runPeriodically(
  work: () => Promise<void>,
  { pauseMs, failed, atOnce = false }: PeriodicOptions,
): PeriodicJob {
  let running: Promise<void> | undefined
  const run = () => {
    running ??= work()
      .catch(failed)
      .finally(() => {
        running = undefined
      })
  }
  const timer = setInterval(run, pauseMs)
  timer.unref()
  if (atOnce) run()
  return {
    stop: async () => {
      clearInterval(timer)
      await running
    },
  }
}
