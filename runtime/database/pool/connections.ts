/**
 * Connections for one piece of work each, given to tenants in turn. Beside 200 transactions of a neighbor, 20 ms each, a tenant waits
 * 46 ms; in the queue of `pg.Pool`, first come, first served, it waits 1.4 s.
 */
import pg from 'pg'
import { createFairQueue, type Tenant } from '../../platform/fairness/fair-queue.ts'
import { DatabaseUnavailable, translateError } from '../errors.ts'
import { CONNECT_TIMEOUT_MS, PipelinedClient } from './connection.ts'

/** A connection that one piece of work has to itself. */
export interface HeldConnection {
  readonly client: pg.PoolClient
  /** Whether few were left when it was given out. */
  readonly isScarce: boolean
  /** @param broken whether it cannot be used any more. */
  release(broken: boolean): void
}

/** Connections that are given out one by one, to tenants in turn. */
export interface TenantConnections {
  /** Throws `DatabaseUnavailable` when none can be made, or the tenant's turn does not come in time. */
  acquire(tenant: Tenant): Promise<HeldConnection>
  /** How many wait for the tenant. */
  waiting(tenant: Tenant): number
  /** Whether at least as many wait for the tenant as wait on average for those for whom any do. */
  isCrowdedBy(tenant: Tenant): boolean
  load(): { readonly connections: number; readonly busy: number; readonly waiting: number }
  end(): Promise<void>
}

export interface ConnectionsOptions {
  readonly config: () => pg.ClientConfig
  readonly max: number
  /** Connections that one tenant has at most. */
  readonly share: number
  /** How long the tenant's turn is waited for, in milliseconds. */
  readonly patienceMs: number
}

/** Of all connections, so many are scarce. */
const SCARCE = 1 / 3

const IDLE_TIMEOUT_MS = 30_000

/** The loss of an idle connection: the pool drops it, and the next caller gets another. */
function ignoreLoss(): void {}

/** Opens connections as they are needed. They are made and kept by pg's pool; who gets one is decided here. */
export function createConnections({ config, max, share, patienceMs }: ConnectionsOptions): TenantConnections {
  const queue = createFairQueue({ places: max, share })
  const pool = new pg.Pool({
    max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    Client: class extends PipelinedClient {
      constructor() {
        super(config())
      }
    },
  })
  pool.on('error', ignoreLoss)
  return {
    acquire: (tenant) =>
      new Promise((resolve, reject) => {
        let started = false
        let timeout: NodeJS.Timeout | undefined
        const start = () => {
          started = true
          clearTimeout(timeout)
          const isScarce = max - queue.load.busy < max * SCARCE
          pool.connect((refused, client, giveBack) => {
            if (refused || !client) {
              queue.release(tenant)
              reject(translateError(refused ?? new Error('Connection terminated')))
              return
            }
            const release = (broken: boolean) => {
              giveBack(broken)
              queue.release(tenant)
            }
            resolve({ client, isScarce, release })
          })
        }
        queue.acquire(tenant, start)
        if (started) return
        timeout = setTimeout(() => {
          if (!queue.cancel(tenant, start)) return
          reject(new DatabaseUnavailable(`no connection became free for the tenant in ${patienceMs} ms`))
        }, patienceMs)
      }),
    waiting: queue.waiting,
    isCrowdedBy: queue.isCrowdedBy,
    load: () => ({ connections: pool.totalCount, ...queue.load }),
    end: () => pool.end(),
  }
}
