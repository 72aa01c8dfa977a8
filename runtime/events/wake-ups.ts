import type { Environment } from '../platform/environment.ts'

/** Wakes whoever waits in this process for something new to be committed. Some are lost: who needs the truth polls too. */
export interface WakeUps {
  notify(environment: Environment, tenantId?: string): void
  /**
   * Calls the listener at each wake-up, with the tenant of whom something is new, or without one where anything may be.
   *
   * @returns what ends the subscription.
   */
  subscribe(environment: Environment, listener: (tenantId?: string) => void): () => void
}

export function createWakeUps(): WakeUps {
  const listeners: Record<Environment, Set<(tenantId?: string) => void>> = {
    sandbox: new Set(),
    live: new Set(),
  }
  return {
    notify: (environment, tenantId) => {
      for (const listener of listeners[environment]) listener(tenantId)
    },
    subscribe: (environment, listener) => {
      listeners[environment].add(listener)
      return () => void listeners[environment].delete(listener)
    },
  }
}
