/**
 * Parses server-sent events (WHATWG HTML, 9.2.6) from chunks of bytes. `eventsource-parser` does not report the `id` of a
 * block without data, which the service uses to send the start position of a stream (`greet` in events/emit/streams.ts).
 */

export interface ServerEvent {
  /** Identifier of this event, or the latest identifier before it; empty if there was none. */
  readonly id: string
  /** `message` if the stream gives no type. */
  readonly type: string
  /** The data lines, joined with line feeds. */
  readonly data: string
}

export interface EventParser {
  /** Returns the events that these bytes complete. An event that is incomplete when the stream ends is dropped. */
  (chunk: Uint8Array): ServerEvent[]
  /**
   * Returns the latest identifier that was followed by a blank line, with or without an event; undefined before the first.
   */
  lastId(): string | undefined
}

const LINE_END = /\r\n|\n|\r/

/** Creates a parser for one connection. Ignores `retry`: the caller decides when to reconnect. */
export function createEventParser(): EventParser {
  // The decoder removes a byte order mark, and keeps an incomplete character at the end of a chunk.
  const decoder = new TextDecoder()
  let rest = ''
  let endedWithReturn = false
  let id = ''
  let lastId: string | undefined
  let type = ''
  let data: string[] = []

  function finish(): ServerEvent[] {
    const event = { id, type: type || 'message', data: data.join('\n') }
    const isEvent = data.length > 0
    lastId = id || undefined
    type = ''
    data = []
    return isEvent ? [event] : []
  }

  function readField(name: string, value: string): void {
    if (name === 'data') data.push(value)
    else if (name === 'event') type = value
    else if (name === 'id' && !value.includes('\0')) id = value
  }

  function readLine(line: string): ServerEvent[] {
    if (line === '') return finish()
    const colon = line.indexOf(':')
    if (colon === -1) readField(line, '')
    // A line that starts with a colon is a comment.
    else if (colon > 0) readField(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
    return []
  }

  const push = (chunk: Uint8Array) => {
    const text = decoder.decode(chunk, { stream: true })
    if (text === '') return []
    // If a chunk ended with a carriage return, a line feed at the start of the next chunk belongs to the same line end.
    const fresh = endedWithReturn && text.startsWith('\n') ? text.slice(1) : text
    endedWithReturn = text.endsWith('\r')
    const lines = (rest + fresh).split(LINE_END)
    rest = lines.pop() ?? ''
    return lines.flatMap(readLine)
  }
  return Object.assign(push, { lastId: () => lastId })
}
