/** Hints between processes: due deliveries are told of by NOTIFY, after the commit and many at once. */

import type { Database, Statement } from '../platform/database/database.ts'
import { ENVIRONMENTS, type Environment } from '../platform/environment.ts'
import type { Hints } from './hints.ts'

const CHANNEL = 'events'

const NOTIFY: Statement = { name: 'events_notify', text: 'SELECT pg_notify($1, $2)' }

/** One notice stands for everything that was committed meanwhile. */
const PAUSE_MS = 20

/** Tenants that one notice names, which is 8,000 bytes at most; of more than that it says that there are some. */
const MAX_TENANTS = 200

/** The owner's pool, as far as this needs it. */
interface Noticeboard extends Database {
  listen(channel: string, heard: (payload?: string) => void): unknown
}

export interface Notices {
  /** Tells this process at once and the others soon that something is new of the tenant. */
  post(environment: Environment, tenantId: string): void
}

/**
 * Passes hints on to other processes, and theirs to this one. Outside the transaction: NOTIFY within it would make all
 * commits of the database wait for each other. What is lost with a process is found by the next poll.
 */
export function connectNotices(control: Noticeboard, hints: Hints): Notices {
  const posting: Record<Environment, Set<string>> = { sandbox: new Set(), live: new Set() }
  control.listen(CHANNEL, (payload) => {
    const [environment, ...tenants] = payload?.split(' ') ?? []
    // Without a name the connection is new, and anything may have been missed.
    for (const each of ENVIRONMENTS) {
      if (environment !== undefined && environment !== each) continue
      if (tenants.length === 0) hints.tell(each)
      for (const tenantId of tenants) hints.tell(each, tenantId)
    }
  })
  const notify = (environment: Environment) => {
    const tenants = [...posting[environment]]
    posting[environment].clear()
    const payload = tenants.length > MAX_TENANTS ? environment : [environment, ...tenants].join(' ')
    control.query(NOTIFY, [CHANNEL, payload]).catch(() => {}) // the database is away: the poll finds it
  }
  const post = (environment: Environment, tenantId: string) => {
    hints.tell(environment, tenantId)
    if (posting[environment].size === 0) setTimeout(notify, PAUSE_MS, environment).unref()
    posting[environment].add(tenantId)
  }
  return { post }
}
