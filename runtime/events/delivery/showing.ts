/** Attempts under way, of which nothing may be written yet. */
export interface OpenAttempts<Attempt> {
  began(attempt: Attempt): void
  ended(attempt: Attempt): void
  /** Forgets all. */
  stop(): void
}

export interface ShowingOptions<Attempt> {
  /** Attempts that have taken longer are shown. */
  readonly afterMs: number
  readonly show: (attempts: readonly Attempt[]) => void
}

/** Most attempts are over before anybody could ask for them, and are written once; the others are shown meanwhile. */
export function createShowing<Attempt extends object>(
  options: ShowingOptions<Attempt>,
): OpenAttempts<Attempt> {
  const { afterMs, show } = options
  /** By when they began, in that order. */
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
