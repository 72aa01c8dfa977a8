/** The stream of events, followed over breaks: each event once, in order, from one point on. */
import type { Client } from '../../generated/client/src/2026-05-19/index.ts'
import { BrokenError, ConnectionLostError, type KeepReadingOptions, keepReading } from './keep-reading.ts'
import type { Reconnects } from './reconnects.ts'
import { createEventParser, type ServerEvent } from './sse.ts'
import { reasonOf } from './terminal/reasons.ts'

/** An event as the service rendered it: `data` is the very body of its deliveries. */
export type StreamedEvent = Pick<ServerEvent, 'id' | 'data'>

export interface FollowOptions extends KeepReadingOptions {
  readonly client: Client
  /** The event to go on after; with what happens from now on when absent. */
  readonly since?: string | undefined
  /** For how long a connection may carry nothing, in milliseconds. The service comments every 15 s. */
  readonly silenceMs?: number
}

const SILENCE_MS = 40_000

/** Where to resume: after the last event that was dealt with, or where the service said that the stream starts. */
interface ResumePoint {
  last: string | undefined
}

/**
 * Reads no further than it is asked to: while one event is dealt with, the next ones wait on the wire or at the
 * service. After a break it comes back behind the last event that was dealt with.
 *
 * @throws ConnectionLostError when the service refuses for good, or no connection came about within `giveUpMs`; the
 *   signal's reason after an abort.
 */
export function followEvents(options: FollowOptions): AsyncGenerator<StreamedEvent, never> {
  const place: ResumePoint = { last: options.since }
  return keepReading(options, (reconnects) => readOn(options, place, reconnects))
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
      throw new ConnectionLostError(`there is no event stream: the answer is ${type}`)
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
