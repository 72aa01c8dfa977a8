/** One limit of time over several steps, of which one is under way. */
export interface Deadline {
  readonly passed: boolean
  /** Names how the step that begins now is stopped; called at once when it is too late already. */
  stopWith(stop: () => void): void
  /** There is nothing left to stop. */
  end(): void
}

/**
 * Cheaper than an AbortSignal for each step, of which the hot path would need several.
 *
 * @param signal passes the deadline before its time
 */
export function startDeadline(ms: number, signal: AbortSignal | undefined): Deadline {
  let stop = () => {}
  let passed = false
  const pass = () => {
    passed = true
    stop()
  }
  const timer = setTimeout(pass, ms)
  signal?.addEventListener('abort', pass)
  if (signal?.aborted) passed = true
  return {
    get passed() {
      return passed
    },
    stopWith: (next) => {
      stop = next
      if (passed) stop()
    },
    end: () => {
      stop = () => {}
      clearTimeout(timer)
      signal?.removeEventListener('abort', pass)
    },
  }
}
