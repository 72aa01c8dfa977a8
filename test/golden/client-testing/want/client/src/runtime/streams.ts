/** Reads streams: server-sent events (HTML standard), lines of JSON, and records of JSON (RFC 7464). */
import { ConnectionError, UnexpectedAnswerError } from './errors.ts'
import type { OperationRow, ValueCodec } from './service.ts'

/** The body of a response, as a stream of bytes. */
type Bytes = ReadableStream<Uint8Array> | null | undefined

/**
 * Reads server-sent events. The stream is closed when the iteration ends early.
 *
 * @throws ConnectionError if the stream breaks, UnexpectedAnswerError if data is not JSON, the signal's reason after an abort.
 */
export async function* readEvents(
  body: Bytes,
  { json = [], values }: OperationRow,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown, void, undefined> {
  let fields: Record<string, string> = {}
  for await (const line of splitText(body, /\r\n|\n|\r(?!$)/, signal)) {
    if (line === '') {
      if (fields.data !== undefined || fields.event !== undefined)
        yield decodeValue(eventOf(fields, json, values), values?.decode)
      fields = {}
      continue
    }
    const [, name = '', value = ''] = /^([^:]*)(?:: ?)?(.*)$/s.exec(line) ?? []
    if (name === 'data' && fields.data !== undefined) fields.data += `\n${value}`
    else if (FIELDS.has(name)) fields[name] = value
  }
}

const FIELDS = new Set(['data', 'event', 'id', 'retry'])

function eventOf(
  fields: Readonly<Record<string, string>>,
  json: true | readonly string[],
  values: ValueCodec | undefined,
): unknown {
  const { data, event = 'message', retry } = fields
  const isJson = data !== undefined && (json === true || json.includes(event))
  return {
    ...fields,
    ...(isJson && { data: parse(data, values) }),
    ...(retry !== undefined && { retry: Number(retry) }),
  }
}

/** Reads values that are JSON, one on each line. Throws like `readEvents`. */
export async function* readLines(
  body: Bytes,
  { values }: OperationRow,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown, void, undefined> {
  for await (const line of splitText(body, /\r?\n/, signal))
    if (line.trim() !== '') yield decodeValue(parse(line, values), values?.decode)
}

const RECORD_SEPARATOR = '\u001e'

/** Reads values that are JSON, each after a record separator and before a line end. Throws like `readEvents`. */
export async function* readRecords(
  body: Bytes,
  { values }: OperationRow,
  signal: AbortSignal | undefined,
): AsyncGenerator<unknown, void, undefined> {
  const lines: string[] = []
  const take = (): string => lines.splice(0).join('\n')
  for await (const line of splitText(body, '\n', signal)) {
    if (line.startsWith(RECORD_SEPARATOR) && lines.length > 0)
      yield decodeValue(parse(take(), values), values?.decode)
    lines.push(line.replace(RECORD_SEPARATOR, ''))
    // A value can be formatted over several lines. The last one starts with a bracket.
    const mayEnd = lines.length === 1 || /^[\]}]/.test(line)
    if (mayEnd && isJson(lines.join('\n'))) yield decodeValue(parse(take(), values), values?.decode)
  }
  if (lines.some((line) => line.trim() !== '')) yield decodeValue(parse(take(), values), values?.decode)
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function parse(text: string, values: ValueCodec | undefined): unknown {
  try {
    return values ? values.parse(text) : JSON.parse(text)
  } catch (cause) {
    throw new UnexpectedAnswerError('An item of the stream is not valid JSON', { cause })
  }
}

/** Makes the caller's value of a JSON value. @throws UnexpectedAnswerError if the value has a different type. */
export function decodeValue(value: unknown, decode: ValueCodec['decode']): unknown {
  if (!decode) return value
  try {
    return decode(value)
  } catch (cause) {
    throw new UnexpectedAnswerError('The response does not have the described types', { cause })
  }
}

/** Yields the texts between separators as they arrive, and the rest when the stream ends. */
async function* splitText(
  body: Bytes,
  separator: RegExp | string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  if (!body) return
  // Not iterated directly: browsers differ in whether a stream is iterable.
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await read(reader, signal)
      rest += decoder.decode(value, { stream: !done })
      const texts = rest.split(separator)
      rest = texts.pop()!
      yield* texts
      if (done) break
    }
    if (rest !== '') yield rest
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

async function read(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal | undefined) {
  try {
    return await reader.read()
  } catch (cause) {
    signal?.throwIfAborted()
    throw new ConnectionError('The connection broke before the stream ended', { cause })
  }
}
