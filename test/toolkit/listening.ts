/** Servers of tests, on loopback. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'

/**
 * Listens while the tests of the file, or of the block that calls it, run.
 *
 * @returns a function that returns the address without a path, once the tests run.
 */
export function listening(listener: RequestListener): () => string {
  const server = createServer(listener)
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  afterAll(async () => {
    server.closeAllConnections()
    await once(server.close(), 'close')
  })
  return () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
