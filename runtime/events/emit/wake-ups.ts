/**
 * Wake-ups within a process, and between processes over NOTIFY. One notification, sent after several commits, covers
 * all of them.
 */

import type { Database, Statement } from '../../database/database.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'

/**
 * Wakes subscribers of this process when something is committed. Wake-ups can get lost, so subscribers must also
 * poll.
 */
export interface WakeUps {
  notify(environment: Environment, tenantId?: string): void
  /**
   * Calls the listener at each wake-up, with the tenant that has something new, or without a tenant if any tenant
   * may.
   *
   * @returns a function that ends the subscription.
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

/** Time to collect tenants for one notification. */
const PAUSE_MS = 20

/**
 * Maximum number of tenants that fit into the 8,000 bytes of a notification. If there are more, the notification names
 * no tenant.
 */
const MAX_TENANTS = 200

/** The part of the owner's pool that wake-ups use. */
interface ListeningDatabase extends Database {
  listen(channel: string, notified: (payload?: string) => void): unknown
}

export interface WakeUpChannel {
  /** Announces new work of the tenant: to this process immediately, and to other processes within 20 ms. */
  publish(environment: Environment, tenantId: string): void
}

/**
 * Sends wake-ups to other processes and receives theirs. NOTIFY runs outside the transaction, because within one it
 * would serialize all commits of the database. If a process dies before it notifies, the next poll finds the work.
 */
export function connectWakeUpChannel(control: ListeningDatabase, wakeUps: WakeUps): WakeUpChannel {
  const waiting: Record<Environment, Set<string>> = { sandbox: new Set(), live: new Set() }
  control.listen(CHANNEL, (payload) => {
    const [environment, ...tenants] = payload?.split(' ') ?? []
    // Without a payload, the connection is new, and notifications may have been missed.
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
    control.query(NOTIFY, [CHANNEL, payload]).catch(() => {}) // the database is unavailable: the poll finds the work
  }
  const publish = (environment: Environment, tenantId: string) => {
    wakeUps.notify(environment, tenantId)
    if (waiting[environment].size === 0) setTimeout(notify, PAUSE_MS, environment).unref()
    waiting[environment].add(tenantId)
  }
  return { publish }
}
