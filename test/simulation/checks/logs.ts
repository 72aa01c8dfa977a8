/** The log for operators: what must be in it, and what must not. */
import { isOfPayouts } from '../chain/lines.ts'
import { CHAIN_ID, USDC } from '../chain/node.ts'
import { WAITS } from '../chain/shortages.ts'
import type { Evidence } from './evidence.ts'
import { fail } from './must.ts'

const CHAIN = `eip155:${CHAIN_ID}`

/** Lines that each process begins with. */
export const START_LINES = [
  `SVC_CHAIN_RPC_URL: live payouts use ${CHAIN}, a test chain on which tokens have no value`,
  `USDC payouts in the sandbox: ${CHAIN}, USDC at ${USDC}; in live: ${CHAIN}, USDC at ${USDC}`,
]

/** pino's number of the level `warn`. */
export const WARN = 40

/** A machine may die before it says that it goes on, but not each time. */
const SEVERAL = 3

/** A worker that lost the database says so, and says when it goes on. */
export function workersResume({ logs }: Pick<Evidence, 'logs'>): void {
  const losses = logs.filter(({ text }) => text.startsWith('delivery queue not readable')).length
  if (losses >= SEVERAL && !logs.some(({ text }) => text === 'webhook deliveries resumed'))
    fail(`the log tells ${losses} times that deliveries wait for the database, and never that they resumed`)
}

/** On a calm day, each process says where USDC payouts go, and nothing else needs an operator. */
export async function logsAreQuiet({
  logs,
  faults,
  blocks,
}: Pick<Evidence, 'logs' | 'faults' | 'blocks'>): Promise<void> {
  if (faults > 0) return
  for (const text of START_LINES)
    if (!logs.some((line) => line.text === text)) fail(`no process said: ${text}`)
  for (const [what, words] of Object.entries(WAITS)) {
    const lines = logs.filter(({ text }) => words.test(text)).length
    const asked = blocks.shortages.filter((each) => each === what).length
    if (lines !== asked) fail(`the log has ${lines} lines about ${asked} shortages: ${what}`)
  }
  const strange = logs.find(
    ({ level, text }) => level >= WARN && !START_LINES.includes(text) && !isOfPayouts(text),
  )
  if (strange) fail(`the log says: ${strange.text}`)
}
