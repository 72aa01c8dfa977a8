/** `npm run simulate -- --seed N --days D`: lives through days of simulated merchants, and checks what must be true. */
import './globals.ts' // first: it replaces what the runtime keeps
import { Command } from 'commander'
import { STORM, type Weather } from './network.ts'
import { withServer } from './server.ts'
import { runUniverse } from './universe.ts'

const FAULTS = Object.keys(STORM) as (keyof Weather)[]

const whole = (text: string) => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${text} is not a whole number`)
  return value
}

const program = new Command('simulate')
  .option('--seed <text>', 'what everything follows from', '1')
  .option('--days <number>', 'days to live through', whole, 1)
  .option('--tenants <number>', 'merchants', whole, 4)
  .option('--actions <number>', 'actions of each merchant in a day', whole, 40)
  .option('--faults <list>', `kinds of faults, separated by commas: ${FAULTS.join(', ')}`, FAULTS.join(','))
  .option('--verbose', 'print every step')
  .parse()
const { seed, days, tenants, actions, faults, verbose } = program.opts()
const chosen = FAULTS.filter((each) => faults.split(',').includes(each))

const { fault, lastLines } = await withServer((server) =>
  runUniverse(server, { seed, days, tenants, actions, faults: chosen }, (line) => console.log(line), verbose ? (line) => console.log(line) : undefined),
)
if (fault !== undefined) {
  for (const line of lastLines) console.log(line)
  console.log(`seed ${seed}: ${fault}`)
}
process.exit(fault === undefined ? 0 : 1)
