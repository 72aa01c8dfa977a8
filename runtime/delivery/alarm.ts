/** A bell that is heard by whoever waits, or by the next who does. */
export interface Alarm {
  ring(): void
  silence(): void
  /** Resolves at the next ring, or after so many milliseconds. */
  heard(ms: number): Promise<void>
}

export function createAlarm(): Alarm {
  let rung = false
  let answer: (() => void) | undefined
  return {
    ring() {
      rung = true
      answer?.()
    },
    silence() {
      rung = false
    },
    async heard(ms) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          answer = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      answer = undefined
      rung = false
    },
  }
}
