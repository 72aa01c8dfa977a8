import type { Environment } from '../platform/environment.ts'

/** Tells whoever waits in this process that something new was committed. Only a hint: who needs the truth looks too. */
export interface Hints {
  tell(environment: Environment, tenantId?: string): void
  /**
   * Calls back at each hint until the function that it gives is called: with the tenant of whom something is new, or
   * without one where anything may be.
   */
  hear(environment: Environment, heard: (tenantId?: string) => void): () => void
}

export function createHints(): Hints {
  const ears: Record<Environment, Set<(tenantId?: string) => void>> = { sandbox: new Set(), live: new Set() }
  return {
    tell: (environment, tenantId) => {
      for (const heard of ears[environment]) heard(tenantId)
    },
    hear: (environment, heard) => {
      ears[environment].add(heard)
      return () => void ears[environment].delete(heard)
    },
  }
}
