/** Simulated processes. Code that one of them runs is known by its async context. */
import { AsyncLocalStorage } from 'node:async_hooks'

/** A simulated process: one life, from a start to a death. */
export interface Machine {
  readonly name: string
  alive: boolean
  /** Simulated time until which nothing of it runs, in milliseconds: it is suspended. */
  stalledUntil: number
  /** How far its clock is ahead of the time, in milliseconds. */
  readonly skewMs: number
  /** When it last lost a connection to PostgreSQL, in simulated time. */
  lostAt: number
  /** UUIDs that it has made. Leases are held under one. */
  readonly uuids: Set<string>
  /** Settles when the process dies; a client sees its connection closed. */
  readonly death: Promise<never>
  die(): void
}

const context = new AsyncLocalStorage<Machine>()

export function createMachine(name: string, skewMs = 0): Machine {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => {}) // a death without a client that waits
  const machine: Machine = {
    name,
    alive: true,
    stalledUntil: 0,
    skewMs,
    lostAt: Number.NEGATIVE_INFINITY,
    uuids: new Set(),
    death: promise,
    die() {
      machine.alive = false
      reject(new Error('the connection was closed'))
    },
  }
  return machine
}

/** Returns the machine that runs the current code. Undefined for the world around the machines. */
export const currentMachine = (): Machine | undefined => context.getStore()

/** Runs code as a part of the machine. */
export const runOn = <T>(machine: Machine, work: () => T): T => context.run(machine, work)

/** Whether code of the machine may run at that time. */
export const mayRun = (machine: Machine | undefined, now: number): boolean =>
  machine === undefined || (machine.alive && machine.stalledUntil <= now)

/** Runs code as a part of the world around the machines. */
export const runOutside = <T>(work: () => T): T => context.exit(work)
