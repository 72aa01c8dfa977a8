import { Socket } from 'node:net'
import pg from 'pg'
import type { RowResult, Statement } from '../database.ts'
import { types } from '../types.ts'
import { PreparedQuery } from './prepared-query.ts'

/** Connect timeout, and the time limit for a tenant that waits for a connection. */
export const CONNECT_TIMEOUT_MS = 5000

/** Options common to all connections of the service. */
export function clientConfig(connection: pg.ClientConfig, applicationName: string): pg.ClientConfig {
  return {
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: applicationName,
    types,
    ...connection,
  }
}

/**
 * Whether a pooler such as PgBouncer is between this process and the server. A pooler reports a made-up process ID,
 * because no server process belongs to a client for long.
 */
export async function isPooled(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return 'processID' in client && client.processID !== rows[0]?.pid
}

/**
 * A socket that sends written data at the end of the event loop tick. Statements of many concurrent requests then leave
 * in one packet and one system call, which halves the CPU time of a statement in this process.
 */
export class GatheringSocket extends Socket {
  #gathering = false

  gather(): void {
    if (this.#gathering) return
    this.#gathering = true
    this.cork()
    setImmediate(() => {
      this.#gathering = false
      this.uncork()
    })
  }
}

/** A connection that pipelines statements. */
export class PipelinedClient extends pg.Client {
  readonly #socket: GatheringSocket

  constructor(config: pg.ClientConfig) {
    const socket = new GatheringSocket()
    super({ ...config, stream: () => socket, pipeline: true })
    this.#socket = socket
    // Without this listener, losing the connection while it is in use would end the process.
    this.on('error', () => {}) // its statements fail, and the `end` event follows
  }

  gather(): void {
    this.#socket.gather()
  }
}

/** Called once, with the result or the error. */
export type Settle = (outcome: RowResult<never> | Error) => void

/**
 * Serializes objects before pg sees them: a value that JSON cannot represent then fails here instead of in the middle
 * of a protocol message.
 */
function encode(values: readonly unknown[]): unknown[] {
  return values.map((value) => {
    const isPlain = typeof value === 'object' && value !== null
    if (!isPlain || Array.isArray(value) || Buffer.isBuffer(value) || value instanceof Date) return value
    return JSON.stringify(value)
  })
}

/**
 * Sends one statement. With a callback, pg creates neither a promise nor a stack trace.
 *
 * @param prepared whether to keep the statement name, so that the server parses and plans the statement once for each
 * connection.
 */
export function send(
  client: pg.ClientBase,
  prepared: boolean,
  statement: Statement,
  values: readonly unknown[] | undefined,
  settle: Settle,
): void {
  let encoded: unknown[] | undefined
  try {
    encoded = values && encode(values)
  } catch (error) {
    settle(error instanceof Error ? error : new Error(String(error)))
    return
  }
  if (client instanceof PipelinedClient) client.gather()
  // A text with several commands returns one result for each. None of the service's statements of this kind returns
  // rows.
  const settled = (error: Error | null, result: pg.QueryResult<never>) =>
    settle(error ?? { rows: result.rows ?? [], count: result.rowCount ?? 0 })
  if (prepared && statement.name !== undefined) {
    const query = new PreparedQuery(statement.name, statement.text, encoded, settled)
    client.query(query as unknown as pg.Submittable)
  } else if (encoded) client.query(statement.text, encoded, settled)
  // biome-ignore lint/nursery/noFloatingPromises: with a callback, pg returns nothing
  else client.query(statement.text, settled)
}
