/** From the commit of an event to its arrival, and what claims take meanwhile. */
import { setTimeout as wait } from 'node:timers/promises'
import { type ClaimLog, openClaimLog } from './webhooks-claims.ts'
import { type Bench, median, ms, print, quantile } from './webhooks-figures.ts'

const QUIET_RATE = 50
const DUE = 300_000
const HANGING = 100

/** Until neighbours have filled what they may fill: longer than their requests take to time out. */
const SETTLE_MS = 12_000

/** Milliseconds from the commit of each event to its arrival. */
async function measureLatency({ sink, service }: Bench, seconds: number): Promise<number[]> {
  await sink.ask('takeTimed')
  const committed = await service.ask('emitQuietly', QUIET_RATE, seconds)
  const arrived = new Map<string, number>()
  for (const end = performance.now() + 20_000; arrived.size < committed.size; await wait(50)) {
    for (const [id, at] of await sink.ask('takeTimed')) arrived.set(id, at)
    if (performance.now() > end) throw new Error(`of ${committed.size} events only ${arrived.size} arrived`)
  }
  return [...committed].map(([id, at]) => arrived.get(id)! - at)
}

async function printLatency(name: string, bench: Bench, log: ClaimLog, seconds: number): Promise<number> {
  log.take()
  const times = await measureLatency(bench, seconds)
  const claims = log.take()
  const p99 = quantile(times, 0.99)
  print(
    `  ${name.padEnd(12)} p50 ${ms(median(times))}, p99 ${ms(p99)} (${times.length} events); claims in the server: median ${ms(median(claims))}, p99 ${ms(quantile(claims, 0.99))} (${claims.length})`,
  )
  return p99
}

/** Prints what passes between commit and arrival when all is quiet, and beside bad neighbours. */
export async function compareLatency(bench: Bench, seconds: number): Promise<void> {
  print(`latency: commit to first byte, ${QUIET_RATE} events a second of one tenant for ${seconds} s`)
  const { service } = bench
  await service.ask('start')
  const log = await openClaimLog(bench.admin, bench.serverLog)
  await service.ask('emitQuietly', QUIET_RATE, 2)
  const quiet = await printLatency('quiet', bench, log, seconds)
  await service.ask('addNeighbours', DUE, HANGING)
  await bench.admin.query('CHECKPOINT') // what made the neighbours is not what is measured
  await wait(SETTLE_MS)
  const noisy = await printLatency('neighbours', bench, log, seconds)
  print(
    `  beside ${DUE} attempts due for another and ${HANGING} endpoints of a third that hang, p99 × ${(noisy / quiet).toFixed(2)} (at most 2)`,
  )
  await log.stop()
  await service.ask('stop')
  await service.ask('clearQueue')
}
