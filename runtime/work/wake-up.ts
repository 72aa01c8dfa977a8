/**
 * Wakes the current waiter, or the next one if there is none. Notifications are not lost; several before a wait count
 * as one.
 */
export interface WakeUp {
  notify(): void
  /** Discards a notification that has no waiter yet. */
  clear(): void
  /** Resolves at the next notification, or after `ms` milliseconds. */
  wait(ms: number): Promise<void>
}

export function createWakeUp(): WakeUp {
  let notified = false
  let resume: (() => void) | undefined
  return {
    notify() {
      notified = true
      resume?.()
    },
    clear() {
      notified = false
    },
    async wait(ms) {
      if (!notified) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          resume = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      resume = undefined
      notified = false
    },
  }
}
