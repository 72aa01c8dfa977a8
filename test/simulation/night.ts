/**
 * `npm run simulate:night`: lives through one universe after the other, each with a seed of its own, until the time is over.
 * Prints the faults, and how many days of merchants were lived through.
 */
import { Command } from 'commander'
import { createRandom } from '../../runtime/platform/random.ts'
import { optionsOf, runApart } from './apart.ts'
import { ACTION_NAMES } from './day.ts'
import type { Plan } from './universe.ts'
import { FAULT_KINDS } from './weather.ts'

const options = new Command('simulate:night')
  .option('--hours <number>', 'when to begin no more universes', Number, 8)
  .option('--seed <text>', 'what the seeds of the universes begin with', 'night')
  .option('--jobs <number>', 'universes at once', Number, 3)
  .option('--days <number>', 'days of a universe', Number, 2)
  .option('--tenants <number>', 'merchants of a universe', Number, 24)
  .option('--actions <number>', 'actions of each merchant in a day', Number, 20)
  .parse()
  .opts()

/** Every second universe has only some kinds of actions and faults: those that it has meet more often (swarm testing, Groce et al., 2012). */
function planFor(number: number): Plan {
  const seed = `${options.seed}-${number}`
  const random = createRandom(`${seed} kinds`)
  const some = <T>(all: readonly T[]) => (number % 2 === 0 ? all.filter(() => random.chance(0.5)) : all)
  return {
    ...{ seed, days: options.days, tenants: options.tenants, machines: 2, actions: options.actions },
    ...{ lateMs: 4 * 3_600_000, kinds: some(ACTION_NAMES), faults: some(FAULT_KINDS) },
    ...{ withoutFaults: new Set<number>(), withoutActions: new Set<number>() },
  }
}

async function main(): Promise<boolean> {
  const began = performance.now()
  const hours = () => (performance.now() - began) / 3_600_000
  let [universes, failed, faults] = [0, 0, 0]
  const worker = async () => {
    while (hours() < options.hours) {
      universes += 1
      const plan = planFor(universes)
      const outcome = await runApart(plan).catch(({ message }: Error) => ({ fault: message, faults: 0 }))
      faults += outcome.faults
      if (outcome.fault === undefined) continue
      failed += 1
      console.log(`${outcome.fault}: npm run simulate -- ${optionsOf(plan).join(' ')}`)
    }
  }
  await Promise.all(Array.from({ length: options.jobs }, worker))
  const days = universes * options.days * options.tenants
  const rate = Math.round(days / hours())
  console.log(`${days} days of merchants in ${universes} universes with ${faults} faults: ${failed} failed`)
  console.log(`${hours().toFixed(2)} hours, ${rate} days of merchants an hour`)
  return failed === 0
}

process.exit((await main()) ? 0 : 1)
