/** Shared by the commands that serve until they are interrupted. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Api } from '../ir/model.ts'
import { UsageError } from './run.ts'

const HOST = '127.0.0.1'
const MAX_PORT = 65_535

/** Returns the version of this name; the newest one if no name is given. @throws UsageError if there is none. */
export function versionOf(apis: readonly Api[], name: string | undefined): Api {
  const found = name === undefined ? apis.at(-1) : apis.find((api) => api.version === name)
  if (found) return found
  const known = apis.map((api) => api.version).join(', ')
  throw new UsageError(`--version: there is no version ${name}; versions are ${known}`)
}

/** Reads an option. @throws UsageError if it is not an integer from 0 to `most`. */
export function integerOf(name: string, text: string | undefined, otherwise: number, most: number): number {
  const value = text === undefined ? otherwise : Number(text)
  if (!Number.isInteger(value) || value < 0 || value > most)
    throw new UsageError(`${name} must be an integer from 0 to ${most}, not ${text}`)
  return value
}

/** Reads `--port`. @throws UsageError if it is not a port. */
export const portOf = (text: string): number => integerOf('--port', text, 0, MAX_PORT)

export interface Listening {
  /** URL of the server, without a path. */
  readonly base: string
  /** Ends all connections, also those that are in use. */
  close(): Promise<void>
}

/**
 * Serves with `node:http`.
 *
 * @param port 0 for any free port.
 * @param host default: loopback.
 * @throws UsageError if the address is not usable.
 */
export async function listen(listener: RequestListener, port: number, host = HOST): Promise<Listening> {
  const server = createServer(listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new UsageError(
              `port ${port} is in use: choose a different one with --port, or 0 for any free port`,
            )
          : new UsageError(`cannot listen on ${host}:${port}: ${error.message}`),
      ),
    )
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    base: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Resolves when the signal aborts. */
export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
