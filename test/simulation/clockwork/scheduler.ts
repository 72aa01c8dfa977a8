/**
 * Decides what happens next: one statement, or one due timer. Everything follows from the seed, because between two
 * decisions nothing is under way.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRandom, type Random } from '../../../runtime/platform/random.ts'
import { real } from './globals.ts'
import { allLanes, type Lane, type Parked } from './lanes.ts'
import { type Machine, mayRun } from './machines.ts'
import type { Timers } from './timers.ts'
import type { Watch } from './watch.ts'

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
  /** PostgreSQL crashes. All machines lose their connections. */
  crash(): Promise<void>
  /** Notes what happened, for the last lines and for the hash of the run. */
  note(line: string): void
  readonly lastLines: readonly string[]
  /** Hash of everything that happened so far. */
  digest(): string
  readonly steps: number
  /** How often each statement was answered, by its label. */
  readonly answered: Map<string, number>
  /** A run with more steps than this does not come to rest. */
  mostSteps: number
}

const HOUR_MS = 3_600_000
const KEPT_LINES = 60

/** A statement that is not answered after this real time may wait for a lock. Each further look is after twice the time. */
const LOOK_AFTER_MS = 5

/** In steps: about as many as until the next flush of the log. */
const JUST_COMMITTED = 4

/** Whether a process waits (proc_pid_stat(5)). */
const isAsleep = (pid: number) => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') S ')

/** What PostgreSQL says when a wait for a lock is too long. */
const LOCK_TIMEOUT = { code: '55P03', message: 'canceling statement due to lock timeout' }

/** Faults of machines, from the seed. */
export interface Faults {
  /**
   * Called before each decision.
   *
   * @param hasCommitted whether a transaction committed a few decisions ago: a crash of PostgreSQL may lose it.
   */
  disturb(hasCommitted: boolean): Promise<void>
  /** Called before each statement: whether its connection ends instead. */
  losesConnection(machine: Machine): boolean
}

/** @param heard called with each line. */
export function createScheduler(
  seed: string,
  timers: Timers,
  watch: Watch,
  faults: Faults,
  heard: (line: string) => void = () => {},
): Scheduler {
  const random: Random = createRandom(`${seed} order`)
  const lines: string[] = []
  const hash = createHash('sha256')
  const answered = new Map<string, number>()
  let steps = 0
  let committedAt = Number.NEGATIVE_INFINITY
  const note = (line: string) => {
    const text = `${new Date(timers.now).toISOString()} ${line}`
    hash.update(text)
    heard(text)
    lines.push(text)
    if (lines.length > 2 * KEPT_LINES) lines.splice(0, KEPT_LINES)
  }
  const tick = () => new Promise<void>((resolve) => real.setImmediate(resolve))

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
    let wake = () => {}
    const answered = new Promise<void>((resolve) => {
      wake = resolve
    })
    const under: Parked = { statement, answered, until: Number.POSITIVE_INFINITY, isLate: false }
    statement.send((error, result) => {
      under.answer = { error, result }
      wake()
    })
    await rest(lane, under)
    if (under.answer) return answer(lane, under)
    lane.parked = under
    under.until = timers.now + (lane.lockMs ?? Number.POSITIVE_INFINITY)
    note(`${lane.machine.name} #${lane.number} waits ${statement.label}`)
  }

  /** Sends what the lane has next. Its machine does not hear of it until it loses the connection. */
  const sendUnheard = async (lane: Lane): Promise<void> => {
    const unheard = lane.queue.map((each) => ({ ...each, settle() {} }))
    lane.queue.splice(0, lane.queue.length, ...unheard)
    await send(lane)
  }

  /** Ends a connection. Half of the time, the first statement takes effect before. */
  const cut = async (lane: Lane): Promise<void> => {
    note(`${lane.machine.name} #${lane.number} is cut off`)
    const lost = [...lane.queue]
    lane.machine.lostAt = timers.now
    if (random.chance(0.5)) await sendUnheard(lane)
    lane.cut()
    const pid = lane.pid()
    if (pid !== undefined) await watch.terminate([pid])
    for (const { settle } of lost) settle(new Error('Connection terminated unexpectedly'))
    await tick()
  }

  /** Waits until a statement is answered, or waits for a lock and PostgreSQL has looked for a deadlock. */
  const rest = async (lane: Lane, under: Parked): Promise<void> => {
    for (let ms = LOOK_AFTER_MS; !under.answer; ms *= 2) {
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = real.setTimeout(resolve, ms)
      })
      await Promise.race([under.answered, late])
      real.clearTimeout(timer)
      const pid = lane.pid()
      if (under.answer || under.isLate || pid === undefined) continue
      if ((await watch.waiting([pid], true)).has(pid)) return
    }
  }

  const answer = async (lane: Lane, { statement, isLate, answer }: Parked) => {
    lane.parked = undefined
    const { error, result } = answer!
    if (error && isLate) Object.assign(error, LOCK_TIMEOUT)
    const code = error && 'code' in error ? ` ${error.code}` : error ? ' lost' : ''
    note(`${lane.machine.name} #${lane.number} ${statement.label}${code}`)
    if (statement.label === 'COMMIT') committedAt = steps
    answered.set(statement.label, (answered.get(statement.label) ?? 0) + 1)
    if (lane.machine.alive) statement.settle(error, result)
    // The machine comes to rest before the next answer, which may have arrived already, and before time moves.
    await tick()
  }

  const allParked = () => allLanes().filter(({ parked }) => parked)

  /**
   * Does something that may end waits for locks. Then lets each parked statement that has its lock continue, one at a time,
   * and hands over the answers. If one lock wakes several processes of PostgreSQL, nothing decides which of them gets the
   * next lock, so they are suspended meanwhile.
   */
  const free = async (work: () => Promise<void>): Promise<void> => {
    const pids = allParked().map((lane) => lane.pid()!)
    const suspended = new Set(pids.length > 1 ? pids : [])
    for (const pid of suspended) {
      // Awake, it may hold what others need.
      while (!isAsleep(pid)) await tick()
      process.kill(pid, 'SIGSTOP')
    }
    const resume = (pid: number) => {
      if (suspended.delete(pid)) process.kill(pid, 'SIGCONT')
    }
    try {
      await work()
      for (;;) {
        const parked = allParked().filter((lane) => !lane.parked!.answer)
        if (parked.length === 0) break
        const blocked = await watch.waiting(
          parked.map((lane) => lane.pid()!),
          false,
        )
        // PostgreSQL still lists a statement as blocked for a moment after it was told to cancel it.
        const next = parked.find((lane) => lane.parked!.isLate || !blocked.has(lane.pid()!))
        if (!next) break
        resume(next.pid()!)
        await rest(next, next.parked!)
      }
    } finally {
      for (const pid of suspended) resume(pid)
    }
    for (const lane of allParked().filter(({ parked }) => parked!.answer)) await answer(lane, lane.parked!)
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
    await faults.disturb(steps - committedAt < JUST_COMMITTED)
    const lanes = allLanes().filter(
      (lane) => lane.queue.length > 0 && !lane.parked && mayRun(lane.machine, timers.now),
    )
    const due = timers.due()
    const count = lanes.length + Math.min(due.length, 1)
    if (count === 0) {
      advance()
      await free(endWaits)
      return
    }
    steps += 1
    if (steps > scheduler.mostSteps) throw new Error(`the run does not end: ${steps} steps`)
    const chosen = random.between(0, count - 1)
    const lane = lanes[chosen]
    if (lane) {
      await free(() => (faults.losesConnection(lane.machine) ? cut(lane) : send(lane)))
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
      if (last) await free(() => send(last))
      const pids = own.map((lane) => lane.pid()).filter((pid) => pid !== undefined)
      for (const lane of own) lane.drop()
      await free(() => watch.terminate(pids))
    },
    async crash() {
      note('PostgreSQL crashes')
      const ready = allLanes().filter(({ queue, parked }) => queue.length > 0 && !parked)
      const last =
        ready.length > 0 && random.chance(0.5) ? ready[random.between(0, ready.length - 1)] : undefined
      const lost = [...(last?.queue ?? [])]
      if (last) await free(() => sendUnheard(last))
      for (const lane of allLanes()) {
        if (lane !== last) lost.push(...(lane.parked ? [lane.parked.statement] : []), ...lane.queue)
        lane.machine.lostAt = timers.now
        lane.cut()
      }
      await watch.crash()
      for (const { settle } of lost) settle(new Error('Connection terminated unexpectedly'))
    },
    note,
    get lastLines() {
      return lines.slice(-KEPT_LINES)
    },
    answered,
    digest: () => hash.copy().digest('hex').slice(0, 16),
    mostSteps: 500_000,
    get steps() {
      return steps
    },
  }
  return scheduler
}
