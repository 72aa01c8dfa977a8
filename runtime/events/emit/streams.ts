/** Live streams of events, as server-sent events (WHATWG HTML, section 9.2). */
import { isUnavailable } from '../../database/errors.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import { readEventsAfter, type SequencedEvent } from './queries.ts'
import type { WakeUps } from './wake-ups.ts'

export interface StreamStart {
  readonly sequence: number
  readonly id: string
}

export interface EventStreams {
  /** Yields one server-sent event for each event after the given position, until the client disconnects. */
  open(options: {
    readonly after: StreamStart
    /** The response to the client. Without it, a stream ends when its reader takes the next event. */
    readonly response?: { readonly destroyed: boolean; once(event: 'close', listener: () => void): unknown }
    readonly types: Pick<ReadonlySet<string>, 'has'>
    /** Reads what is streamed, in order. Default: the events of the space. */
    readonly read?: typeof readEventsAfter
    /**
     * Finds the space whose events are streamed; undefined if the caller may no longer watch. Called before each
     * read.
     */
    readonly findSpace: () => Promise<string | undefined>
    /** Formats events of the given types for the stream. Default: as the API sends them. */
    readonly write?: (events: readonly SequencedEvent[]) => Promise<string>
  }): AsyncIterable<string>
}

/** Longest delay of an event whose wake-up was lost. */
const POLL_MS = 500

/** Interval of comment lines, which keep proxies from closing an idle connection. */
const COMMENT_MS = 15_000

const BATCH = 100

const COMMENT = ':\n\n'

/**
 * Sets the client's last event ID without an event. A client that disconnects before the first event resumes here.
 */
const greet = (id: string): string => `id: ${id}\n:\n\n`

export interface StreamsOptions {
  readonly database: Pool
  readonly environment: Environment
  readonly wakeUps: WakeUps
  /** Whether streams must end because the process is stopping. */
  readonly isLeaving: () => boolean
  readonly pollMs?: number
  readonly commentMs?: number
}

/**
 * Creates streams. Each stream reads the tenant's gapless sequence at the pace of its client, so no event is lost or
 * sent twice. A stream ends when the process stops or its key is revoked; the client then reconnects with
 * `Last-Event-ID`.
 */
export function createEventStreams(options: StreamsOptions): EventStreams {
  const { database, environment, wakeUps, isLeaving, pollMs = POLL_MS, commentMs = COMMENT_MS } = options

  /**
   * Reads new events. Returns undefined if the caller may no longer watch, and an empty list while the
   * database is unavailable.
   */
  const look = async (
    findSpace: () => Promise<string | undefined>,
    read: typeof readEventsAfter,
    last: number,
  ): Promise<readonly SequencedEvent[] | undefined> => {
    try {
      // After a wipe, the tenant has a new space. Its sequence continues there.
      const space = await findSpace()
      return space === undefined
        ? undefined
        : await read(database.forTenant(readSpace(space).tenantId).flushed, space, last, BATCH)
    } catch (error) {
      if (isUnavailable(error)) return []
      throw error
    }
  }

  async function* open({
    after,
    response,
    types,
    findSpace,
    read = readEventsAfter,
    write = async (events) => events.map(writeEvent).join(''),
  }: Parameters<EventStreams['open']>[0]): AsyncGenerator<string> {
    let wake = () => {}
    let isNew = false
    const lookAgain = () => {
      isNew = true
      wake()
    }
    const unsubscribe = wakeUps.subscribe(environment, lookAgain)
    response?.once('close', lookAgain)
    const pause = () =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pollMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
        if (isNew) wake()
      })
    let last = after.sequence
    let spokeAt = performance.now()
    try {
      yield greet(after.id)
      while (!isLeaving() && !response?.destroyed) {
        isNew = false
        const events = await look(findSpace, read, last)
        if (!events) return
        last = events.at(-1)?.sequence ?? last
        const text = await write(events.filter(({ type }) => types.has(type)))
        if (text !== '' || performance.now() - spokeAt >= commentMs) {
          spokeAt = performance.now()
          yield text || COMMENT
        }
        if (events.length < BATCH) await pause()
      }
    } finally {
      unsubscribe()
    }
  }

  return { open }
}

/** The body is JSON without line breaks, so it fits into one `data` line. */
function writeEvent({ id, type, body }: SequencedEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${body}\n\n`
}
