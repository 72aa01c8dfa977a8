import { Socket } from 'node:net'
import pg from 'pg'
import type { RowResult, Statement } from '../database.ts'
import { types } from '../types.ts'
import { PreparedQuery } from './prepared-query.ts'

/** Also how long a tenant's turn is waited for. */
export const CONNECT_TIMEOUT_MS = 5000

/** What every connection of ours has in common. */
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
 * Whether something like PgBouncer is in between: it gives its clients made-up numbers of server processes, since none
 * of these is theirs for long.
 */
export async function isPooled(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return 'processID' in client && client.processID !== rows[0]?.pid
}

/**
 * A socket that sends what is written to it at the end of the event loop's tick: statements of many requests that
 * arrived together leave in one packet and one system call, which halves what a statement costs this process.
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

/** A connection on which statements travel without waiting for each other. */
export class PipelinedClient extends pg.Client {
  readonly #socket: GatheringSocket

  constructor(config: pg.ClientConfig) {
    const socket = new GatheringSocket()
    super({ ...config, stream: () => socket, pipeline: true })
    this.#socket = socket
    // Without a listener of its own a connection that is lost while in use would end the process.
    this.on('error', () => {}) // its statements fail, and `end` follows
  }

  gather(): void {
    this.#socket.gather()
  }
}

/** Called once, with the result or what prevented it. */
export type Settle = (outcome: RowResult<never> | Error) => void

/** Objects as JSON before pg sees them: what has no JSON fails here, not in the middle of a message to the server. */
function encode(values: readonly unknown[]): unknown[] {
  return values.map((value) => {
    const isPlain = typeof value === 'object' && value !== null
    if (!isPlain || Array.isArray(value) || Buffer.isBuffer(value) || value instanceof Date) return value
    return JSON.stringify(value)
  })
}

/**
 * Sends one statement. With a callback pg makes no promise and no stack trace of its own.
 *
 * @param prepared whether the statement keeps its name, that is, is parsed and planned once per connection.
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
  // Several commands in one text have an answer each: none of ours has rows then.
  const settled = (error: Error | null, result: pg.QueryResult<never>) =>
    settle(error ?? { rows: result.rows ?? [], count: result.rowCount ?? 0 })
  if (prepared && statement.name !== undefined) {
    const query = new PreparedQuery(statement.name, statement.text, encoded, settled)
    client.query(query as unknown as pg.Submittable)
  } else if (encoded) client.query(statement.text, encoded, settled)
  else client.query(statement.text, settled)
}
