/**
 * Decides what happens next: one statement, or one due timer. Everything follows from the seed, because between two
 * decisions nothing is under way.
 */
import { createHash } from 'node:crypto'
import { createRandom, type Random } from '../../../runtime/platform/random.ts'
import { real } from './globals.ts'
import { allLanes, type Lane, type Parked, type Watch } from './lanes.ts'
import { type Machine, mayRun } from './machines.ts'
import type { Timers } from './timers.ts'

export interface Scheduler {
  readonly timers: Timers
  /** Timers of machines are late by at most this, if nothing else is under way: the fewer polls, the faster a day. */
  maxLateMs: number
  /** Runs until the promise settles. Throws what it throws. */
  run<T>(work: Promise<T>): Promise<T>
  /** Ends the run: something failed that no caller waits for. */
  fail(error: Error): void
  /** Waits in simulated time, for code of the world. */
  sleep(ms: number): Promise<void>
  /** Ends the process without any cleanup. With `executes`, one of its statements still reaches PostgreSQL. */
  kill(machine: Machine, executes: boolean): Promise<void>
  /** Notes what happened, for the last lines and for the hash of the run. */
  note(line: string): void
  readonly lastLines: readonly string[]
  /** Hash of everything that happened so far. */
  digest(): string
  readonly steps: number
  /** A run with more steps than this does not come to rest. */
  mostSteps: number
}

const HOUR_MS = 3_600_000
const KEPT_LINES = 60

/** A statement that is not answered after this real time may wait for a lock. Each further look is after twice the time. */
const LOOK_AFTER_MS = 5

/** What PostgreSQL says when a wait for a lock is too long. */
const LOCK_TIMEOUT = { code: '55P03', message: 'canceling statement due to lock timeout' }

/**
 * @param interrupt called before each decision; faults come from it.
 * @param heard called with each line.
 */
export function createScheduler(
  seed: string,
  timers: Timers,
  watch: Watch,
  interrupt: () => Promise<void>,
  heard: (line: string) => void = () => {},
): Scheduler {
  const random: Random = createRandom(`${seed} order`)
  const lines: string[] = []
  const hash = createHash('sha256')
  let steps = 0
  const note = (line: string) => {
    const text = `${new Date(timers.now).toISOString()} ${line}`
    hash.update(text)
    heard(text)
    lines.push(text)
    if (lines.length > 2 * KEPT_LINES) lines.splice(0, KEPT_LINES)
  }
  const tick = () => new Promise<void>((resolve) => real.setImmediate(resolve))
  const pause = (ms: number) => new Promise<void>((resolve) => real.setTimeout(resolve, ms))

  /**
   * Sends the first statement of the lane that others can notice, with private ones before it: when those happen makes no
   * difference. Resolves when it is answered, or parked behind a lock.
   */
  const send = async (lane: Lane): Promise<void> => {
    const first = lane.queue.findIndex(({ isPrivate }) => !isPrivate)
    const before = lane.queue.splice(0, first === -1 ? lane.queue.length - 1 : first)
    const statement = lane.queue.shift()!
    for (const { send, settle } of before)
      send((error, result) => {
        if (lane.machine.alive) settle(error, result)
      })
    const under: Parked = { statement, until: Number.POSITIVE_INFINITY, isLate: false }
    let wake = () => {}
    const answered = new Promise<void>((resolve) => {
      wake = resolve
    })
    let isAnswered = false
    statement.send((error, result) => {
      under.answer = { error, result }
      isAnswered = true
      wake()
    })
    for (let ms = LOOK_AFTER_MS; !isAnswered; ms *= 2) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = real.setTimeout(resolve, ms)
      })
      await Promise.race([answered, late])
      real.clearTimeout(timer)
      const pid = lane.pid()
      if (isAnswered || pid === undefined) continue
      if (!(await watch.waiting([pid], true)).has(pid) || isAnswered) continue
      lane.parked = under
      under.until = timers.now + (lane.lockMs ?? Number.POSITIVE_INFINITY)
      note(`${lane.machine.name} #${lane.number} waits ${statement.label}`)
      return
    }
    await answer(lane, under)
  }

  const answer = async (lane: Lane, { statement, isLate, answer }: Parked) => {
    lane.parked = undefined
    const { error, result } = answer!
    if (error && isLate) Object.assign(error, LOCK_TIMEOUT)
    const code = error && 'code' in error ? ` ${error.code}` : error ? ' lost' : ''
    note(`${lane.machine.name} #${lane.number} ${statement.label}${code}`)
    if (lane.machine.alive) statement.settle(error, result)
  }

  /** Waits until every parked statement is answered or waits again, and hands over the answers in order. */
  const settleParked = async (): Promise<void> => {
    for (;;) {
      const parked = allLanes().filter(({ parked }) => parked)
      if (parked.length === 0) return
      const before = parked.filter(({ parked }) => parked!.answer).length
      const blocked = await watch.waiting(
        parked.map((lane) => lane.pid()!),
        false,
      )
      // PostgreSQL still lists a statement as blocked for a moment after it was told to cancel it.
      const isStill = parked.every(
        (lane) => lane.parked!.answer || (!lane.parked!.isLate && blocked.has(lane.pid()!)),
      )
      const after = parked.filter(({ parked }) => parked!.answer)
      if (!isStill || after.length !== before) {
        await pause(0)
        continue
      }
      for (const lane of after) await answer(lane, lane.parked!)
      return
    }
  }

  /** Ends waits for locks that are over in simulated time. */
  const endWaits = async (): Promise<void> => {
    for (const lane of allLanes()) {
      if (!lane.parked || lane.parked.until > timers.now) continue
      Object.assign(lane.parked, { until: Number.POSITIVE_INFINITY, isLate: true })
      await watch.cancel(lane.pid()!)
    }
  }

  const advance = () => {
    const { any, short } = timers.nextOfMachines()
    const late =
      any === undefined ? undefined : Math.max(any, timers.now + random.between(1000, scheduler.maxLateMs))
    const lanes = allLanes()
    const limits = lanes.map(({ parked }) => parked?.until)
    const ends = lanes.map(({ queue, machine }) => (queue.length > 0 ? machine.stalledUntil : undefined))
    const times = [timers.nextOfWorld(), short, late, ...limits, ...ends]
      .filter((each) => each !== undefined)
      .filter((each) => each > timers.now)
    const next = Math.min(...times)
    if (!Number.isFinite(next)) throw new Error('nothing is left to happen')
    timers.now = Math.max(timers.now, next)
  }

  const step = async (isOver: () => boolean): Promise<void> => {
    await tick()
    if (isOver() || timers.runImmediates()) return
    await interrupt()
    const lanes = allLanes().filter(
      (lane) => lane.queue.length > 0 && !lane.parked && mayRun(lane.machine, timers.now),
    )
    const due = timers.due()
    const count = lanes.length + Math.min(due.length, 1)
    if (count === 0) {
      advance()
      await endWaits()
      await settleParked()
      return
    }
    steps += 1
    if (steps > scheduler.mostSteps) throw new Error(`the run does not end: ${steps} steps`)
    const chosen = random.between(0, count - 1)
    const lane = lanes[chosen]
    if (lane) {
      await send(lane)
      await settleParked()
      timers.now += random.between(0, 4) / 4
      return
    }
    const timer = due[0]!
    timers.remove(timer)
    timer.run()
  }

  let broken: Error | undefined
  const scheduler: Scheduler = {
    timers,
    maxLateMs: HOUR_MS,
    fail(error) {
      broken ??= error
    },
    async run(work) {
      let [isOver, outcome] = [false, work]
      outcome = work.finally(() => {
        isOver = true
      })
      outcome.catch(() => {}) // thrown below
      while (!isOver) {
        if (broken) throw broken
        await step(() => isOver)
      }
      return outcome
    },
    sleep: (ms) =>
      new Promise((resolve) => {
        const timer = timers.add(() => {
          timers.remove(timer)
          resolve()
        }, ms)
      }),
    async kill(machine, executes) {
      const own = allLanes().filter((lane) => lane.machine === machine)
      const ready = own.filter((lane) => lane.queue.length > 0 && !lane.parked)
      machine.die()
      const last = executes && ready.length > 0 ? ready[random.between(0, ready.length - 1)] : undefined
      if (last) await send(last)
      const pids = own.map((lane) => lane.pid()).filter((pid) => pid !== undefined)
      for (const lane of own) lane.drop()
      await watch.terminate(pids)
      await settleParked()
    },
    note,
    get lastLines() {
      return lines.slice(-KEPT_LINES)
    },
    digest: () => hash.copy().digest('hex').slice(0, 16),
    mostSteps: 500_000,
    get steps() {
      return steps
    },
  }
  return scheduler
}
