/** `npm run simulate -- --seed N --days D`: lives through days of simulated merchants, and checks what must be true. */
import './clockwork/globals.ts' // first: it replaces what the runtime keeps
import { Command } from 'commander'
import { optionsOf, runApart } from './apart.ts'
import { ACTION_NAMES } from './day.ts'
import { withServer } from './server.ts'
import { shrink } from './shrink.ts'
import { type Plan, runUniverse } from './universe.ts'
import { FAULT_KINDS } from './weather.ts'

const whole = (text: string) => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is not a whole number`)
  return value
}

const numbers = (text: string) => new Set(text.split(',').filter(Boolean).map(whole))

const program = new Command('simulate')
  .option('--seed <text>', 'what everything follows from', '1')
  .option('--days <number>', 'days to live through', whole, 1)
  .option('--tenants <number>', 'merchants', whole, 4)
  .option('--machines <number>', 'processes of the service', whole, 2)
  .option('--late <hours>', 'how late polls are at most, if nothing is under way', whole, 4)
  .option('--repeat', 'live through the same twice, and compare')
  .option('--actions <number>', 'actions of each merchant in a day', whole, 40)
  .option('--kinds <list>', 'kinds of actions, separated by commas', ACTION_NAMES.join(','))
  .option(
    '--faults <list>',
    `kinds of faults, separated by commas: ${FAULT_KINDS.join(', ')}`,
    FAULT_KINDS.join(','),
  )
  .option(
    '--without-faults <numbers>',
    'faults that are left out, in the order in which they happen',
    numbers,
    new Set(),
  )
  .option('--without-actions <numbers>', 'actions that are left out', numbers, new Set())
  .option('--shrink', 'if a run fails, look for a smaller one that fails')
  .option('--runs <number>', 'most runs to look for a smaller one', whole, 60)
  .option('--verbose', 'print every step')
  .parse()
const {
  seed,
  days,
  tenants,
  machines,
  late,
  actions,
  kinds,
  faults,
  withoutFaults,
  withoutActions,
  ...options
} = program.opts()
const { verbose, runs } = options
const plan: Plan = {
  ...{ seed, days, tenants, machines, actions },
  lateMs: late * 3_600_000,
  kinds: ACTION_NAMES.filter((each) => kinds.split(',').includes(each)),
  faults: FAULT_KINDS.filter((each) => faults.split(',').includes(each)),
  withoutFaults,
  withoutActions,
}
const print = (line: string) => console.log(line)

const isWhole = await withServer(async (server) => {
  const outcome = await runUniverse(server, plan, print, verbose ? print : undefined)
  if (process.send) await new Promise((resolve) => process.send!(outcome, resolve))
  const { fault, lastLines, digest } = outcome
  if (fault === undefined && options.repeat) {
    const again = await runApart(plan, server)
    print(again.digest === digest ? 'the second run was the same' : 'the second run was different')
    return again.digest === digest
  }
  if (fault === undefined) return true
  if (!verbose) for (const line of lastLines) print(line)
  print(`seed ${seed}: ${fault}`)
  if (!options.shrink) return false
  const run = (smaller: Plan) => runApart(smaller, server)
  const smallest = await shrink(plan, fault, run, runs, print)
  print(`npm run simulate -- ${optionsOf(smallest).join(' ')} --verbose`)
  return false
})
process.exit(isWhole ? 0 : 1)
