/** The machines of a universe: they start, serve, are suspended, end and die. */
import type { Random } from '../../runtime/platform/random.ts'
import { hasFinished } from './checks/rest.ts'
import type { Running } from './client.ts'
import { createMachine, type Machine, runOn } from './clockwork/machines.ts'
import type { Scheduler } from './clockwork/scheduler.ts'
import type { SimulatedService } from './service.ts'
import { SKEW_MS, STALL_MS, type Weather } from './weather.ts'

export interface Fleet {
  /** Machines that serve. */
  running(): readonly Running[]
  /** Starts a machine. It serves some time later. */
  start(name: string): void
  /** Draws whether a machine loses a connection now. Only those that serve do. */
  losesConnection(machine: Machine): boolean
  /** Draws whether a machine dies, is suspended or is replaced now, or PostgreSQL crashes while only machines that serve use it. */
  disturb(hasCommitted: boolean): Promise<void>
  /** Runs work on a machine of its own, which ends with it. */
  once<T>(name: string, work: () => Promise<T>): Promise<T>
  /** The same, beside other work that the scheduler runs. */
  beside<T>(name: string, work: () => Promise<T>): Promise<T>
  stop(): Promise<void>
}

/** Longest time until a machine that died starts again. */
const AWAY_MS = 60_000

/**
 * @param scheduler called later: it is made from `disturb`.
 * @param hasEnded checks what a machine has left that was told to end.
 */
export function createFleet(
  scheduler: () => Scheduler,
  random: Random,
  weather: Weather,
  serve: () => Promise<SimulatedService>,
  hasEnded: (machine: Machine) => Promise<void>,
): Fleet {
  const all = new Set<Machine>()
  let running: readonly Running[] = []
  /** Machines that were told to end. They get no more requests. */
  let leaving: readonly Running[] = []
  /** Machines whose work is done. They end between two steps, like every machine: then nothing is under way. */
  const done: { readonly machine: Machine; readonly ended: () => unknown }[] = []

  const kill = async (machine: Machine, executes: boolean) => {
    all.delete(machine)
    running = running.filter((each) => each.machine !== machine)
    leaving = leaving.filter((each) => each.machine !== machine)
    await scheduler().kill(machine, executes)
  }
  const create = (name: string, skewMs = 0) => {
    const machine = createMachine(name, skewMs)
    all.add(machine)
    return machine
  }
  const start = (name: string, afterMs = 0) => {
    const begin = async () => {
      await scheduler().sleep(afterMs)
      const machine = create(name, weather.includes('skew') ? random.between(-SKEW_MS, SKEW_MS) : 0)
      const service = await runOn(machine, serve)
      running = [...running, { machine, service, requests: new Set() }]
      scheduler().note(`${name} serves`)
    }
    begin().catch(scheduler().fail)
  }
  const replace = (one: Running) => {
    const { machine, service, requests } = one
    scheduler().note(`${machine.name} is told to end`)
    running = running.filter((each) => each !== one)
    leaving = [...leaving, one]
    const ended = () => {
      start(machine.name, random.between(100, AWAY_MS))
      return hasEnded(machine)
    }
    runOn(machine, () => service.stop(requests))
      .then(() => {
        hasFinished(service)
        scheduler().note(`${machine.name} has ended`)
        done.push({ machine, ended })
      })
      .catch(scheduler().fail)
  }
  return {
    running: () => running,
    start,
    losesConnection: (machine) =>
      [...running, ...leaving].some((each) => each.machine === machine) && weather.strikes('cut'),
    async disturb(hasCommitted) {
      for (const { machine, ended } of done.splice(0)) {
        await kill(machine, false)
        await ended()
      }
      const serving = [...running, ...leaving]
      const one = serving[random.between(0, serving.length - 1)]
      if (!one) return
      const { machine } = one
      if (weather.strikes('death')) {
        scheduler().note(`${machine.name} dies`)
        await kill(machine, random.chance(0.5))
        start(machine.name, random.between(100, AWAY_MS))
      } else if (weather.strikes('stall')) {
        const ms = random.between(1000, STALL_MS)
        scheduler().note(`${machine.name} is suspended for ${ms} ms`)
        machine.stalledUntil = scheduler().timers.now + ms
      } else if (running.includes(one) && weather.strikes('deploy')) {
        replace(one)
      } else if (hasCommitted && all.size === serving.length && weather.strikes('crash')) {
        await scheduler().crash()
      }
    },
    async once(name, work) {
      const machine = create(name)
      const value = await scheduler().run(runOn(machine, work))
      await kill(machine, false)
      return value
    },
    async beside(name, work) {
      const machine = create(name)
      const value = await runOn(machine, work)
      await new Promise<void>((ended) => done.push({ machine, ended }))
      return value
    },
    async stop() {
      for (const machine of all) await kill(machine, false)
    },
  }
}
