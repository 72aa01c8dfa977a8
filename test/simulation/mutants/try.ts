/** Lives through the plans that its argument names, one after the other, and ends with the first that fails. */
import '../clockwork/globals.ts' // first: it replaces what the runtime keeps
import { appendFileSync } from 'node:fs'
import pg from 'pg'
import { withServer } from '../server.ts'
import { runUniverse } from '../universe.ts'
import { PLANS } from './plans.ts'
import { STATEMENTS_VARIABLE } from './replacement.ts'

function noteStatements(file: string): void {
  const texts = new Set<string>()
  const proto = pg.Client.prototype as unknown as Record<'query', (...given: unknown[]) => unknown>
  const { query } = proto
  proto.query = function (this: pg.Client, config: unknown, ...rest: unknown[]) {
    texts.add(typeof config === 'string' ? config : (config as { readonly text: string }).text)
    return query.call(this, config, ...rest)
  }
  process.on('exit', () => {
    for (const text of texts) appendFileSync(file, `${JSON.stringify(text)}\n`)
  })
}

const file = process.env[STATEMENTS_VARIABLE]
if (file !== undefined) noteStatements(file)
const fault = await withServer(async (server) => {
  for (const name of process.argv.slice(2)) {
    const plan = PLANS[name]
    if (!plan) throw new Error(`there is no plan ${name}`)
    const outcome = await runUniverse(server, plan, () => {})
    if (outcome.fault !== undefined) return `${name}: ${outcome.fault}`
  }
  return undefined
})
if (fault !== undefined) console.log(fault)
process.exit(fault === undefined ? 0 : 1)
