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
const SEVERAL = 6

/** Beginnings of what machines say when PostgreSQL has crashed, and later. */
export const LOSSES: readonly string[] = [
  'delivery queue not readable; the worker tries again: ',
  'Work failed because of the database; the next poll retries it: ',
  'webhook deliveries resumed',
]

/** Workers that lost the database say so, and deliveries when they go on. */
export function lossesAreTold({ logs, crashes }: Pick<Evidence, 'logs' | 'crashes'>): void {
  if (crashes < SEVERAL) return
  const isTold = (text: string) => logs.some((line) => line.text.startsWith(text))
  for (const text of LOSSES)
    if (!isTold(text)) fail(`PostgreSQL crashed ${crashes} times, and no line says: ${text}`)
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
