/** Wakes whoever waits, or the next who does: a notification is never lost and never counted twice. */
export interface WakeUp {
  notify(): void
  /** Forgets a notification for which no one has waited yet. */
  clear(): void
  /** Resolves at the next notification, or after so many milliseconds. */
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
