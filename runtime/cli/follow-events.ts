/** Follows the event stream across interruptions: yields each event once, in order. */
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import { BrokenError, ConnectionLostError, type KeepReadingOptions, keepReading } from './keep-reading.ts'
import type { Reconnects } from './reconnects.ts'
import { createEventParser, type ServerEvent } from './sse.ts'
import { reasonOf } from './terminal/reasons.ts'

/** An event as the API rendered it. `data` is identical to the body of its deliveries. */
export type StreamedEvent = Pick<ServerEvent, 'id' | 'data'>

export interface FollowOptions extends KeepReadingOptions {
  readonly client: Client
  /** The event to resume after; default: start with new events. */
  readonly since?: string | undefined
  /** Reconnect after this time without data, in milliseconds. The API sends a comment every 15 s. */
  readonly silenceMs?: number
}

const SILENCE_MS = 40_000

/** The resume position: the last processed event, or the position that the API reported when the stream started. */
interface ResumePoint {
  last: string | undefined
}

/**
 * Yields events on demand: while the caller processes an event, later events wait in the connection or at the API. After an
 * interruption, the stream resumes after the last processed event.
 * @throws ConnectionLostError if the API refuses permanently, or if there is no connection for `giveUpMs`; the signal's
 * reason after an abort.
 */
export function followEvents(options: FollowOptions): AsyncGenerator<StreamedEvent, never> {
  const place: ResumePoint = { last: options.since }
  return keepReading(options, (reconnects) => readOn(options, place, reconnects))
}

/** Yields the events of one connection. Returns the error that ended it. */
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
      if (!greeted) say(place.last === undefined ? 'Connected.' : `Connected. Resuming after ${place.last}.`)
      greeted = true
      for (const { id, data } of parse(chunk)) {
        yield { id, data }
        place.last = id
      }
      place.last ??= parse.lastId()
    }
    return new BrokenError('the API closed the stream')
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
      throw new ConnectionLostError(`the API did not return an event stream: the content type is ${type}`)
    }
    for (;;) {
      const { done, value } = await readWithin(silenceMs, reader)
      if (done) return
      yield value
    }
  } finally {
    // The stream may have failed already; then there is nothing to cancel.
    await reader.cancel().catch(() => undefined)
  }
}

type StreamReader = ReadableStreamDefaultReader<Uint8Array>

async function readWithin(silenceMs: number, reader: StreamReader): ReturnType<StreamReader['read']> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    const fail = () => reject(new BrokenError(`no data received for ${silenceMs / 1000} s`))
    timer = setTimeout(fail, silenceMs)
  })
  const read = reader.read().catch((cause) => {
    throw new BrokenError(`the stream was interrupted: ${reasonOf(cause)}`, { cause })
  })
  try {
    return await Promise.race([read, silence])
  } finally {
    clearTimeout(timer)
  }
}
