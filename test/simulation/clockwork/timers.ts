/** Timers in simulated time. */
import { currentMachine, type Machine, mayRun } from './machines.ts'

export interface SimulatedTimer {
  at: number
  readonly order: number
  readonly machine: Machine | undefined
  /** Belongs to something under way, and is in time. Others may be late, as on a busy machine. */
  readonly isShort: boolean
  run(): void
}

/** Clock and timers of a universe. Nothing happens on its own: the scheduler runs due timers and moves the time. */
export interface Timers {
  /** Milliseconds since the epoch. */
  now: number
  add(run: () => void, ms: number): SimulatedTimer
  remove(timer: SimulatedTimer): void
  /** Work for the end of the tick, like `setImmediate`. */
  addImmediate(run: () => void): () => void
  runImmediates(): boolean
  /** Due timers that may run, in order. */
  due(): readonly SimulatedTimer[]
  /** Time of the next timer of the world, which is never late; undefined without one. */
  nextOfWorld(): number | undefined
  /** Times of the next timers of machines that live: of all, and of those that wait only a moment. */
  nextOfMachines(): { readonly any: number | undefined; readonly short: number | undefined }
}

/** Longest wait of something under way. Polls wait longer. */
const SHORT_MS = 150

/** Factor for other waits of machines. */
const SLACK = 10

export function createTimers(start: number): Timers {
  const pending = new Set<SimulatedTimer>()
  let immediates = new Set<{ readonly run: () => void; readonly machine: Machine | undefined }>()
  let orders = 0
  /** A machine that is suspended runs its timers when it resumes. */
  const next = (isWanted: (timer: SimulatedTimer) => boolean) => {
    let least: number | undefined
    for (const timer of pending) {
      if (!isWanted(timer)) continue
      const at = Math.max(timer.at, timer.machine?.stalledUntil ?? 0)
      if (least === undefined || at < least) least = at
    }
    return least
  }
  const timers: Timers = {
    now: start,
    add(run, ms) {
      orders += 1
      const delay = Number.isFinite(ms) && ms > 0 ? ms : 0
      const isShort = delay <= SHORT_MS
      const machine = currentMachine()
      // A timer may be late, as on a busy machine. Fewer polls make a day faster.
      const at = timers.now + (machine && !isShort ? delay * SLACK : delay)
      const timer = { at, order: orders, machine, isShort, run }
      pending.add(timer)
      return timer
    },
    remove: (timer) => void pending.delete(timer),
    addImmediate(run) {
      const immediate = { run, machine: currentMachine() }
      immediates.add(immediate)
      return () => void immediates.delete(immediate)
    },
    runImmediates() {
      if (immediates.size === 0) return false
      const some = immediates
      immediates = new Set()
      for (const { run, machine } of some) if (machine?.alive ?? true) run()
      return true
    },
    due() {
      const found: SimulatedTimer[] = []
      for (const timer of pending) {
        if (timer.machine && !timer.machine.alive) pending.delete(timer)
        else if (timer.at <= timers.now && mayRun(timer.machine, timers.now)) found.push(timer)
      }
      return found.sort((a, b) => a.at - b.at || a.order - b.order)
    },
    nextOfWorld: () => next(({ machine }) => machine === undefined),
    nextOfMachines: () => ({
      any: next(({ machine }) => machine?.alive === true),
      short: next(({ machine, isShort }) => machine?.alive === true && isShort),
    }),
  }
  return timers
}
