/** Reads from the API until interrupted, across broken connections and temporary refusals. */
import { setTimeout as wait } from 'node:timers/promises'
import {
  ClientError,
  ConnectionError,
  ResponseError,
  TimeoutError,
} from '../../generated/client/src/2026-05-19/index.ts'
import { explainFailure } from './explain-failure.ts'
import { createReconnects, type Reconnects } from './reconnects.ts'

/** The API cannot be read anymore, and a retry would not help. */
export class ConnectionLostError extends Error {}

/** An open connection ended or stopped sending data. */
export class BrokenError extends Error {}

export interface KeepReadingOptions {
  readonly baseUrl: string
  /** Maximum time without a connection, in milliseconds. */
  readonly giveUpMs: number
  /** Pause before the first retry, in milliseconds. It doubles with each further retry. */
  readonly pauseMs?: number | undefined
  readonly signal: AbortSignal
  /** Prints a line when there is no connection. */
  readonly say: (line: string) => void
}

const PAUSE_MS = 500

/** Statuses that mean that a retry may succeed. All other 3xx and 4xx statuses are final. */
const PASSING = new Set([408, 425, 429])

/**
 * Yields what `read` yields, and restarts it after each temporary failure.
 * @param read reads until it fails, and returns the error. It reports a connection to `Reconnects`.
 * @throws ConnectionLostError if the API refuses permanently, or if there is no connection for `giveUpMs`; the signal's
 * reason after an abort.
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
      // Any other error is a bug in this program.
      throw error instanceof ClientError ? new ConnectionLostError(explainFailure(error, baseUrl)) : error
    }
    const why = explainFailure(error, baseUrl)
    const nextMs = reconnects.lost(error instanceof ResponseError ? error.retryAfterMs : undefined)
    if (nextMs === undefined) throw new ConnectionLostError(`no connection for ${giveUpMs / 1000} s: ${why}`)
    say(`Not connected: ${why}. Retrying …`)
    await wait(nextMs, undefined, { signal })
  }
}

/** Returns whether a retry may succeed. */
function isPassing(error: unknown): boolean {
  if (error instanceof ResponseError) return error.status >= 500 || PASSING.has(error.status)
  return error instanceof BrokenError || error instanceof ConnectionError || error instanceof TimeoutError
}
