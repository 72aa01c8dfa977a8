/**
 * Reads server-sent events (WHATWG HTML, 9.2.6) from bytes, wherever the chunks end. `eventsource-parser` does not report the `id` of
 * a block without data, which is how the service names the position where a stream starts (`greet` in events/emit/streams.ts).
 */

/** One event of a stream. */
export interface ServerEvent {
  /** Of this event, or of the last one before it that had an identifier; empty where none had. */
  readonly id: string
  /** `message` where the stream names none. */
  readonly type: string
  /** Its lines, joined by line feeds. */
  readonly data: string
}

export interface EventParser {
  /** @returns the events that are complete with these bytes. What an ended stream left incomplete never is one. */
  (chunk: Uint8Array): ServerEvent[]
  /** The last identifier that a blank line has followed, with an event or without; undefined before the first. */
  lastId(): string | undefined
}

const LINE_END = /\r\n|\n|\r/

/** One parser reads one connection. `retry` is passed over: who reads decides when to come back. */
export function createEventParser(): EventParser {
  // It takes a byte order mark away, and keeps the part of a character that a chunk ends with.
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
    // Nothing before the colon makes it a comment.
    else if (colon > 0) readField(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ''))
    return []
  }

  const push = (chunk: Uint8Array) => {
    const text = decoder.decode(chunk, { stream: true })
    if (text === '') return []
    // A line feed that follows the last chunk's carriage return ends no line of its own.
    const fresh = endedWithReturn && text.startsWith('\n') ? text.slice(1) : text
    endedWithReturn = text.endsWith('\r')
    const lines = (rest + fresh).split(LINE_END)
    rest = lines.pop() ?? ''
    return lines.flatMap(readLine)
  }
  return Object.assign(push, { lastId: () => lastId })
}
