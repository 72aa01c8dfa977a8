/** Live streams of events, as server-sent events (WHATWG HTML, 9.2). */

import { isUnavailable } from '../../database/errors.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace } from '../../database/space.ts'
import type { Environment } from '../../platform/environment.ts'
import { readEventsAfter, type SequencedEvent } from './queries.ts'
import type { WakeUps } from './wake-ups.ts'

/** A place in the tenant's sequence of events. */
export interface StreamStart {
  readonly sequence: number
  readonly id: string
}

/** Live streams of a tenant's events. */
export interface EventStreams {
  /** Server-sent events, one for each event after the given place in the tenant's sequence, until the client goes. */
  open(options: {
    readonly after: StreamStart
    readonly types: ReadonlySet<string>
    /** Whose events; undefined when the caller may watch no longer. Asked again and again. */
    readonly findSpace: () => Promise<string | undefined>
    /** How an event stands in the stream; absent: as the API sends it. */
    readonly write?: (event: SequencedEvent) => string
  }): AsyncIterable<string>
}

/** How late an event may come where the wake-up got lost. */
const POLL_MS = 500

/** A line now and then, so that nobody on the way takes the connection for dead. */
const COMMENT_MS = 15_000

const AT_ONCE = 100

const COMMENT = ':\n\n'

/** No event: tells where the stream starts, so that a client that loses it before the first one can come back there. */
const greet = (id: string): string => `id: ${id}\n:\n\n`

export interface StreamsOptions {
  readonly database: Pool
  readonly environment: Environment
  readonly wakeUps: WakeUps
  /** Whether streams are to end, because the process is. */
  readonly isLeaving: () => boolean
  readonly pollMs?: number
  readonly commentMs?: number
}

/**
 * Each stream reads on in the tenant's gapless sequence from where it is, as fast as its client takes it: nothing is lost
 * or said twice, whatever happens in between. It ends by itself when the process stops or its key is revoked; a client
 * then comes back with `Last-Event-ID`.
 */
export function createEventStreams(options: StreamsOptions): EventStreams {
  const { database, environment, wakeUps, isLeaving, pollMs = POLL_MS, commentMs = COMMENT_MS } = options

  /** What is new; undefined when the caller may no longer watch. While the database is away nothing is. */
  const look = async (
    findSpace: () => Promise<string | undefined>,
    last: number,
  ): Promise<readonly SequencedEvent[] | undefined> => {
    try {
      // A wipe moves the tenant to a new space, where its sequence goes on.
      const space = await findSpace()
      return space === undefined
        ? undefined
        : await readEventsAfter(database.forTenant(readSpace(space).tenantId).flushed, space, last, AT_ONCE)
    } catch (error) {
      if (isUnavailable(error)) return []
      throw error
    }
  }

  async function* open({
    after,
    types,
    findSpace,
    write = writeEvent,
  }: Parameters<EventStreams['open']>[0]): AsyncGenerator<string> {
    let wake = () => {}
    let isNew = false
    const unsubscribe = wakeUps.subscribe(environment, () => {
      isNew = true
      wake()
    })
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
      while (!isLeaving()) {
        isNew = false
        const events = await look(findSpace, last)
        if (!events) return
        last = events.at(-1)?.sequence ?? last
        const text = events.map((event) => (types.has(event.type) ? write(event) : '')).join('')
        if (text !== '' || performance.now() - spokeAt >= commentMs) {
          spokeAt = performance.now()
          yield text || COMMENT
        }
        if (events.length < AT_ONCE) await pause()
      }
    } finally {
      unsubscribe()
    }
  }

  return { open }
}

/** The body is JSON, in which no line ends. */
function writeEvent({ id, type, body }: SequencedEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${body}\n\n`
}
