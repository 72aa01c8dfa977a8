/** Deliveries a second of the bench's contestants, in alternating rounds. */
import { setTimeout as wait } from 'node:timers/promises'
import { type Bench, median, ms, print } from './webhooks-figures.ts'
import type { Contestant } from './webhooks-peers.ts'
import { type Helper, monotonicNow } from './webhooks-processes.ts'

/** Of one round. */
interface Round {
  /** Deliveries per second, from the first that arrives to the last that is recorded. */
  readonly rate: number
  /** The same with the time that it took to put them into the queue and to begin. */
  readonly wholeRate: number
  /** Milliseconds of the contestant's processor for each. */
  readonly processor: number
}

async function measureRound({ admin, sink }: Bench, contestant: Helper<Contestant>, count: number) {
  const filled = await timed(() => contestant.ask('fill', count))
  await admin.query('CHECKPOINT') // what was written before must not be written out during the next one's time
  await sink.ask('takePlain')
  const usedBefore = await contestant.used()
  const start = monotonicNow()
  await contestant.ask('start')
  while ((await sink.ask('plainCount')) < count || !(await contestant.ask('isDone'))) await wait(5)
  const end = monotonicNow()
  const used = (await contestant.used()) - usedBefore
  await contestant.ask('stop')
  const arrived = await sink.ask('takePlain')
  if (arrived.count !== count) throw new Error(`${arrived.count} deliveries arrived instead of ${count}`)
  const rates = {
    rate: (count / (end - arrived.firstAt)) * 1000,
    wholeRate: (count / (filled + end - start)) * 1000,
  }
  return { ...rates, processor: used / count, arrived }
}

/** Milliseconds that the work takes. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = monotonicNow()
  await work()
  return monotonicNow() - began
}

export interface ThroughputOptions {
  readonly rounds: number
  /** Of each contestant in each round. */
  readonly deliveries: number
}

/** Prints deliveries per second of each contestant beside the best peer's. */
export async function compareThroughput(
  bench: Bench,
  { rounds, deliveries }: ThroughputOptions,
): Promise<void> {
  print(
    `throughput: ${rounds} rounds of ${deliveries} deliveries, ${bench.concurrency} at once; deliveries per second, median (lowest–highest)`,
  )
  const results = new Map<string, Round[]>()
  const seen = new Map<string, string>()
  for (const [name, contestant] of bench.contestants) {
    const { arrived } = await measureRound(bench, contestant, deliveries)
    seen.set(`${arrived.bytes} bytes, ${arrived.headers.join(' ')}`, name)
  }
  // They are comparable only while they send alike.
  if (seen.size > 1) throw new Error(`the contestants send differently: ${[...seen].join('; ')}`)
  for (let round = 0; round < rounds; round++) {
    for (const [name, contestant] of bench.contestants) {
      const result = await measureRound(bench, contestant, deliveries)
      results.set(name, [...(results.get(name) ?? []), result])
    }
  }
  const best = (figure: 'rate' | 'wholeRate') =>
    Math.max(
      ...[...results].filter(([name]) => name !== 'service').map(([, each]) => median(figures(each, figure))),
    )
  const bests = { rate: best('rate'), wholeRate: best('wholeRate') }
  for (const [name, each] of results) {
    const shown = (['rate', 'wholeRate'] as const).map((figure) =>
      showRates(figures(each, figure), bests[figure]),
    )
    print(
      `  ${name.padEnd(16)} ${shown[0]}   ${ms(median(figures(each, 'processor')))} of processor each;   putting them into the queue included: ${shown[1]}`,
    )
  }
}

const figures = (rounds: readonly Round[], figure: keyof Round) => rounds.map((round) => round[figure])

/** Median, range, and the median beside the best peer's. */
function showRates(rates: readonly number[], best: number): string {
  const range = `${Math.round(Math.min(...rates))}–${Math.round(Math.max(...rates))}`
  return `${String(Math.round(median(rates))).padStart(6)}  (${range})  × ${(median(rates) / best).toFixed(2)}`
}
