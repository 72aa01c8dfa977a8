/** Attempts in progress that may not be recorded in the database yet. */
export interface OpenAttempts<Attempt> {
  began(attempt: Attempt): void
  ended(attempt: Attempt): void
  stop(): void
}

export interface ShowingOptions<Attempt> {
  /** Milliseconds after which an attempt in progress is shown. */
  readonly afterMs: number
  readonly show: (attempts: readonly Attempt[]) => void
}

/** Shows slow attempts while they run. Most attempts end sooner, so they are written once, when they end. */
export function createShowing<Attempt extends object>(
  options: ShowingOptions<Attempt>,
): OpenAttempts<Attempt> {
  const { afterMs, show } = options
  /** Start time by attempt, oldest first. */
  const open = new Map<Attempt, number>()
  let timer: NodeJS.Timeout | undefined

  const watch = () => {
    const [oldest] = open.values()
    timer =
      oldest === undefined
        ? undefined
        : setTimeout(showLate, Math.max(0, oldest + afterMs - performance.now()))
  }
  const showLate = () => {
    const until = performance.now() - afterMs
    const late: Attempt[] = []
    for (const [attempt, began] of open) {
      if (began > until) break
      late.push(attempt)
      open.delete(attempt)
    }
    if (late.length > 0) show(late)
    watch()
  }
  return {
    began(attempt) {
      open.set(attempt, performance.now())
      if (timer === undefined) watch()
    },
    ended(attempt) {
      open.delete(attempt)
    },
    stop() {
      open.clear()
      clearTimeout(timer)
    },
  }
}
