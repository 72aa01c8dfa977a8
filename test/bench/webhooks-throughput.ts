/** Deliveries a second of the bench's contestants, in alternating rounds. */
import { setTimeout as wait } from 'node:timers/promises'
import { type Bench, median, ms, print } from './webhooks-figures.ts'
import type { Contestant } from './webhooks-peers.ts'
import { type Helper, monotonicNow } from './webhooks-processes.ts'

/** Deliveries per second, from the first that arrives to the last that is recorded. */
async function measureRound({ admin, sink }: Bench, contestant: Helper<Contestant>, count: number) {
  await contestant.ask('fill', count)
  await admin.query('CHECKPOINT') // what was written before must not be written out during the next one's time
  await sink.ask('takePlain')
  const usedBefore = await contestant.used()
  await contestant.ask('start')
  while ((await sink.ask('plainCount')) < count || !(await contestant.ask('isDone'))) await wait(5)
  const end = monotonicNow()
  const used = (await contestant.used()) - usedBefore
  await contestant.ask('stop')
  const arrived = await sink.ask('takePlain')
  if (arrived.count !== count) throw new Error(`${arrived.count} deliveries arrived instead of ${count}`)
  return { rate: (count / (end - arrived.firstAt)) * 1000, processor: used / count, arrived }
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
  const results = new Map<string, { rate: number; processor: number }[]>()
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
  const rated = [...results].map(([name, each]) => {
    const rates = each.map(({ rate }) => rate)
    return { name, rates, rate: median(rates), processor: median(each.map(({ processor }) => processor)) }
  })
  const best = Math.max(...rated.filter(({ name }) => name !== 'service').map(({ rate }) => rate))
  for (const { name, rates, rate, processor } of rated) {
    const range = `${Math.round(Math.min(...rates))}–${Math.round(Math.max(...rates))}`
    print(
      `  ${name.padEnd(16)} ${String(Math.round(rate)).padStart(6)}  (${range})  × ${(rate / best).toFixed(2)}   ${ms(processor)} of processor each`,
    )
  }
}
