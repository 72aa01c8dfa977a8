import type { Environment } from '../contract.ts'

/** Tells whoever waits in this process that something new was committed. Only a hint: who needs the truth looks too. */
export interface Hints {
  tell(environment: Environment): void
  /** Calls back at each hint until the function that it gives is called. */
  hear(environment: Environment, heard: () => void): () => void
}

export function createHints(): Hints {
  const ears: Record<Environment, Set<() => void>> = { sandbox: new Set(), live: new Set() }
  return {
    tell: (environment) => {
      for (const heard of ears[environment]) heard()
    },
    hear: (environment, heard) => {
      ears[environment].add(heard)
      return () => void ears[environment].delete(heard)
    },
  }
}
