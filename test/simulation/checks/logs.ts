/** The log for operators: what must be in it, and what must not. */
import { CHAIN_ID, USDC } from '../chain/node.ts'
import { type Evidence, fail } from './evidence.ts'

const CHAIN = `eip155:${CHAIN_ID}`

/** Lines that each process begins with. */
const STARTS = [
  `SVC_CHAIN_RPC_URL: live payouts use ${CHAIN}, a test chain on which tokens have no value`,
  `USDC payouts in the sandbox: ${CHAIN}, USDC at ${USDC}; in live: ${CHAIN}, USDC at ${USDC}`,
]

/** pino's number of the level `warn`. */
const WARN = 40

/** On a calm day, each process says where USDC payouts go, and nothing else needs an operator. */
export async function logsAreQuiet({ logs, faults }: Evidence): Promise<void> {
  if (faults > 0) return
  for (const text of STARTS) if (!logs.some((line) => line.text === text)) fail(`no process said: ${text}`)
  const strange = logs.find(({ level, text }) => level >= WARN && !STARTS.includes(text))
  if (strange) fail(`the log says: ${strange.text}`)
}
