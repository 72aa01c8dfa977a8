/** Reads from the service until it is interrupted, over broken connections and refusals that pass. */
import { setTimeout as wait } from 'node:timers/promises'
import {
  ClientError,
  ConnectionError,
  ResponseError,
  TimeoutError,
} from '../../generated/client/src/2026-05-19/index.ts'
import { explainFailure } from './explain-failure.ts'
import { createReconnects, type Reconnects } from './reconnects.ts'

/** The service cannot be read any more, and trying again would not help. */
export class ConnectionLostError extends Error {}

/** An open connection ended, or fell silent. */
export class BrokenError extends Error {}

export interface KeepReadingOptions {
  readonly baseUrl: string
  /** For how long there may be no connection, in milliseconds. */
  readonly giveUpMs: number
  /** The first pause before another try, in milliseconds; each is twice as long as the one before. */
  readonly pauseMs?: number | undefined
  readonly signal: AbortSignal
  /** Gets a line when there is no connection. */
  readonly say: (line: string) => void
}

const PAUSE_MS = 500

/** Refusals by which the service says that it will answer later. Any other 3xx or 4xx is its last word. */
const PASSING = new Set([408, 425, 429])

/**
 * Gives what `read` gives, and starts it again after each failure that may pass.
 *
 * @param read reads until it fails, and returns the error. It tells `Reconnects` when there is a connection.
 * @throws ConnectionLostError when the service refuses for good, or no connection came about within `giveUpMs`; the
 *   signal's reason after an abort.
 */
export async function* keepReading<Item>(
  { baseUrl, giveUpMs, pauseMs = PAUSE_MS, signal, say }: KeepReadingOptions,
  read: (reconnects: Reconnects) => AsyncGenerator<Item, unknown>,
): AsyncGenerator<Item, never> {
  const reconnects = createReconnects({ giveUpMs, pauseMs })
  for (;;) {
    const error = yield* read(reconnects)
    signal.throwIfAborted()
    if (!isPassing(error)) {
      // Any other error is a fault of this program.
      throw error instanceof ClientError ? new ConnectionLostError(explainFailure(error, baseUrl)) : error
    }
    const why = explainFailure(error, baseUrl)
    const nextMs = reconnects.lost(error instanceof ResponseError ? error.retryAfterMs : undefined)
    if (nextMs === undefined) throw new ConnectionLostError(`no connection for ${giveUpMs / 1000} s: ${why}`)
    say(`Not connected: ${why}. Trying again …`)
    await wait(nextMs, undefined, { signal })
  }
}

/** Whether another try may succeed. */
function isPassing(error: unknown): boolean {
  if (error instanceof ResponseError) return error.status >= 500 || PASSING.has(error.status)
  return error instanceof BrokenError || error instanceof ConnectionError || error instanceof TimeoutError
}
