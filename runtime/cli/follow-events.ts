/** The stream of events, followed over breaks: each event once, in order, from one point on. */
import { setTimeout as wait } from 'node:timers/promises'
import {
  type Client,
  ClientError,
  ConnectionError,
  ResponseError,
  TimeoutError,
} from '../../generated/client/src/2026-05-19/index.ts'
import { explainFailure } from './explain-failure.ts'
import { createReconnects, type Reconnects } from './reconnects.ts'
import { createEventParser, type ServerEvent } from './sse.ts'
import { reasonOf } from './terminal/reasons.ts'

/** An event as the service rendered it: `data` is the very body of its deliveries. */
export type StreamedEvent = Pick<ServerEvent, 'id' | 'data'>

/** The stream cannot be had any more, and trying again would not help. */
export class StreamLostError extends Error {}

export interface FollowOptions {
  readonly client: Client
  readonly baseUrl: string
  /** The event to go on after; with what happens from now on when absent. */
  readonly since?: string | undefined
  /** For how long there may be no connection, in milliseconds. */
  readonly giveUpMs: number
  readonly signal: AbortSignal
  /** Told when the stream is there, and when it broke. */
  readonly say: (line: string) => void
  /** For how long a connection may carry nothing, in milliseconds. The service comments every 15 s. */
  readonly silenceMs?: number
  /** The first pause before another connection; each is twice as long as the one before. */
  readonly pauseMs?: number
}

const SILENCE_MS = 40_000
const PAUSE_MS = 500

/** Refusals by which the service says that it will answer later. Any other 3xx or 4xx is its last word. */
const PASSING = new Set([408, 425, 429])

/** What was an open stream ended, or fell silent. */
class BrokenError extends Error {}

/** Where to resume: after the last event that was dealt with, or where the service said that the stream starts. */
interface ResumePoint {
  last: string | undefined
}

/**
 * Reads no further than it is asked to: while one event is dealt with, the next ones wait on the wire or at the
 * service. After a break it comes back behind the last event that was dealt with.
 *
 * @throws StreamLostError when the service refuses for good, or no connection came about within `giveUpMs`; the
 *   signal's reason after an abort.
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<StreamedEvent, never> {
  const { signal, say, since, giveUpMs, pauseMs = PAUSE_MS, baseUrl } = options
  const place: ResumePoint = { last: since }
  const reconnects = createReconnects({ giveUpMs, pauseMs })
  for (;;) {
    const error = yield* readOn(options, place, reconnects)
    signal.throwIfAborted()
    if (!isPassing(error)) {
      // Whatever else it is, it is a fault of this program.
      throw error instanceof ClientError ? new StreamLostError(explainFailure(error, baseUrl)) : error
    }
    const why = explainFailure(error, baseUrl)
    const pauseMs = reconnects.lost(error instanceof ResponseError ? error.retryAfterMs : undefined)
    if (pauseMs === undefined) {
      throw new StreamLostError(`no connection for ${giveUpMs / 1000} s: ${why}`)
    }
    say(`Not connected: ${why}. Trying again …`)
    await wait(pauseMs, undefined, { signal })
  }
}

/** What one connection gives. @returns why it is over. */
async function* readOn(
  options: FollowOptions,
  place: ResumePoint,
  reconnects: Reconnects,
): AsyncGenerator<StreamedEvent, unknown> {
  const { say } = options
  const parse = createEventParser()
  try {
    let greeted = false
    for await (const chunk of readChunks(options, place, reconnects)) {
      reconnects.connected()
      if (!greeted) say(place.last === undefined ? 'Connected.' : `Connected, after ${place.last}.`)
      greeted = true
      for (const { id, data } of parse(chunk)) {
        yield { id, data }
        place.last = id
      }
      place.last ??= parse.lastId()
    }
    return new BrokenError('the service closed the stream')
  } catch (error) {
    return error
  }
}

async function* readChunks(
  { client, signal, silenceMs = SILENCE_MS }: FollowOptions,
  { last }: ResumePoint,
  reconnects: Reconnects,
): AsyncGenerator<Uint8Array> {
  const { data: body, response } = await client
    .streamEvents({
      ...(last === undefined ? {} : { header: { 'Last-Event-ID': last } }),
      signal,
      maxRetries: 0,
      timeoutMs: Math.min(silenceMs, reconnects.leftMs()),
    })
    .withResponse()
  const reader = body.getReader()
  try {
    const type = response.headers.get('Content-Type') ?? 'nothing'
    if (!type.startsWith('text/event-stream')) {
      throw new StreamLostError(`there is no event stream: the answer is ${type}`)
    }
    for (;;) {
      const { done, value } = await readWithin(silenceMs, reader)
      if (done) return
      yield value
    }
  } finally {
    // It may be broken already: then there is nothing left to cancel.
    await reader.cancel().catch(() => undefined)
  }
}

type StreamReader = ReadableStreamDefaultReader<Uint8Array>

async function readWithin(silenceMs: number, reader: StreamReader): ReturnType<StreamReader['read']> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    const fail = () => reject(new BrokenError(`nothing was heard for ${silenceMs / 1000} s`))
    timer = setTimeout(fail, silenceMs)
  })
  const read = reader.read().catch((cause) => {
    throw new BrokenError(`the stream broke: ${reasonOf(cause)}`, { cause })
  })
  try {
    return await Promise.race([read, silence])
  } finally {
    clearTimeout(timer)
  }
}

/** Whether another try may go better. */
function isPassing(error: unknown): boolean {
  if (error instanceof ResponseError) return error.status >= 500 || PASSING.has(error.status)
  return error instanceof BrokenError || error instanceof ConnectionError || error instanceof TimeoutError
}
