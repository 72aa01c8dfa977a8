import type { Connections } from './connections.ts'
import type { Deadline } from './deadline.ts'
import type { Destination } from './destination.ts'
import { type Ending, exchange } from './exchange.ts'

/** Addresses of one name that are tried, and how long each but the last has to take a connection. */
const MAX_ADDRESSES = 4
const CONNECT_MS = 2500

/** An exchange with the first of the addresses, all of them checked, that takes a connection. */
export async function dial(
  connections: Connections,
  destination: Destination,
  addresses: readonly string[],
  message: string,
  deadline: Deadline,
): Promise<Ending> {
  const last = Math.min(addresses.length, MAX_ADDRESSES) - 1
  for (let at = 0; ; at += 1) {
    const connectMs = at < last ? CONNECT_MS : undefined
    const { secure, port, name } = destination
    const place = { secure, port, name, address: addresses[at]! }
    const work = { connections, place, message, deadline, connectMs }
    let ending = await exchange({ ...work, fresh: false })
    if (again(ending) === 'fresh') ending = await exchange({ ...work, fresh: true })
    if (again(ending) !== 'elsewhere' || at >= last || deadline.passed) return ending
  }
}

function again(ending: Ending): 'fresh' | 'elsewhere' | undefined {
  return 'again' in ending ? ending.again : undefined
}
