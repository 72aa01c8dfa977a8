/** `npm run simulate -- --seed N --days D`: lives through days of simulated merchants, and checks what must be true. */
import './clockwork/globals.ts' // first: it replaces what the runtime keeps
import { Command } from 'commander'
import { withServer } from './server.ts'
import { shrink } from './shrink.ts'
import { type Plan, runUniverse } from './universe.ts'
import { FAULT_KINDS } from './weather.ts'

const whole = (text: string) => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is not a whole number`)
  return value
}

const program = new Command('simulate')
  .option('--seed <text>', 'what everything follows from', '1')
  .option('--days <number>', 'days to live through', whole, 1)
  .option('--tenants <number>', 'merchants', whole, 4)
  .option('--machines <number>', 'processes of the service', whole, 2)
  .option('--late <hours>', 'how late polls are at most, if nothing is under way', whole, 4)
  .option('--repeat', 'live through the same twice, and compare')
  .option('--actions <number>', 'actions of each merchant in a day', whole, 40)
  .option(
    '--faults <list>',
    `kinds of faults, separated by commas: ${FAULT_KINDS.join(', ')}`,
    FAULT_KINDS.join(','),
  )
  .option('--shrink', 'if a run fails, look for a smaller one that fails')
  .option('--runs <number>', 'most runs to look for a smaller one', whole, 60)
  .option('--verbose', 'print every step')
  .parse()
const { seed, days, tenants, machines, late, actions, faults, verbose, runs, ...options } = program.opts()
const plan: Plan = {
  ...{ seed, days, tenants, machines, actions },
  lateMs: late * 3_600_000,
  faults: FAULT_KINDS.filter((each) => faults.split(',').includes(each)),
  withoutFaults: new Set(),
  withoutActions: new Set(),
}
const print = (line: string) => console.log(line)

const isWhole = await withServer(async (server) => {
  const { fault, lastLines, digest } = await runUniverse(server, plan, print, verbose ? print : undefined)
  if (fault === undefined && options.repeat) {
    const again = await runUniverse(server, plan, () => {})
    print(again.digest === digest ? 'the second run was the same' : 'the second run was different')
    return again.digest === digest
  }
  if (fault === undefined) return true
  if (!verbose) for (const line of lastLines) print(line)
  print(`seed ${seed}: ${fault}`)
  if (!options.shrink) return false
  const run = (smaller: Plan) => runUniverse(server, smaller, () => {})
  const smallest = await shrink(plan, run, runs, print)
  const shown = await runUniverse(server, smallest, () => {})
  for (const line of shown.lastLines) print(line)
  print(`seed ${seed}: ${shown.fault}`)
  return false
})
process.exit(isWhole ? 0 : 1)
