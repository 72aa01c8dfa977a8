import type { Deadline } from './deadline.ts'
import type { Destination } from './destination.ts'
import { type Ending, exchange, type Message } from './exchange.ts'
import type { Connections } from './pools.ts'

/** Addresses of one name that are tried, and how long each but the last has to take a connection. */
const MOST_ADDRESSES = 4
const CONNECT_MS = 2500

/** An exchange with the first of the addresses, all of them judged, that takes a connection. */
export async function dial(
  connections: Connections,
  destination: Destination,
  addresses: readonly string[],
  message: Message,
  deadline: Deadline,
): Promise<Ending> {
  const last = Math.min(addresses.length, MOST_ADDRESSES) - 1
  for (let at = 0; ; at += 1) {
    const connectMs = at < last ? CONNECT_MS : undefined
    const work = { destination, address: addresses[at]!, message, deadline, connectMs }
    let ending = await exchange({ ...work, pools: connections.kept })
    if (again(ending) === 'fresh') ending = await exchange({ ...work, pools: connections.single })
    if (again(ending) !== 'elsewhere' || at >= last || deadline.passed) return ending
  }
}

function again(ending: Ending): 'fresh' | 'elsewhere' | undefined {
  return 'again' in ending ? ending.again : undefined
}
