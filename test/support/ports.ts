import { once } from 'node:events'
import { createServer } from 'node:net'

/** Returns a port of this machine that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || address === null) throw new Error('there is no free port')
  return address.port
}
