/** Wake-ups within a process, and between processes: NOTIFY says that deliveries are due, after the commit and many at once. */

import type { Database, Statement } from '../../database/database.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'

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

const CHANNEL = 'events'

const NOTIFY: Statement = { name: 'events_notify', text: 'SELECT pg_notify($1, $2)' }

/** One notification stands for everything that was committed meanwhile. */
const PAUSE_MS = 20

/** Tenants that one notification names, which is 8,000 bytes at most; of more than that it says that there are some. */
const MAX_TENANTS = 200

/** The owner's pool, as far as this needs it. */
interface ListeningDatabase extends Database {
  listen(channel: string, notified: (payload?: string) => void): unknown
}

export interface WakeUpChannel {
  /** Wakes this process at once and the others soon: something is new of the tenant. */
  publish(environment: Environment, tenantId: string): void
}

/**
 * Passes wake-ups on to other processes, and theirs to this one. Outside the transaction: NOTIFY within it would make all
 * commits of the database wait for each other. What is lost with a process is found by the next poll.
 */
export function connectWakeUpChannel(control: ListeningDatabase, wakeUps: WakeUps): WakeUpChannel {
  const waiting: Record<Environment, Set<string>> = { sandbox: new Set(), live: new Set() }
  control.listen(CHANNEL, (payload) => {
    const [environment, ...tenants] = payload?.split(' ') ?? []
    // Without a name the connection is new, and anything may have been missed.
    for (const each of ENVIRONMENTS) {
      if (environment !== undefined && environment !== each) continue
      if (tenants.length === 0) wakeUps.notify(each)
      for (const tenantId of tenants) wakeUps.notify(each, tenantId)
    }
  })
  const notify = (environment: Environment) => {
    const tenants = [...waiting[environment]]
    waiting[environment].clear()
    const payload = tenants.length > MAX_TENANTS ? environment : [environment, ...tenants].join(' ')
    control.query(NOTIFY, [CHANNEL, payload]).catch(() => {}) // the database is away: the poll finds it
  }
  const publish = (environment: Environment, tenantId: string) => {
    wakeUps.notify(environment, tenantId)
    if (waiting[environment].size === 0) setTimeout(notify, PAUSE_MS, environment).unref()
    waiting[environment].add(tenantId)
  }
  return { publish }
}
