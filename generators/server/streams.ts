/** Writes streams: server-sent events (HTML standard), lines of JSON, and records of JSON (RFC 7464). */
import type { ItemStream } from '../runtime/contract.ts'

/** An event as handlers yield it. `data` that is not text is sent as JSON. */
interface ServerEvent {
  readonly event?: string
  readonly id?: string
  readonly retry?: number
  readonly data?: unknown
}

/**
 * Returns the text of an item.
 *
 * @param stringify writes JSON.
 * @throws Error if the name or id of an event has several lines.
 */
export function frameItem(
  item: unknown,
  framing: ItemStream['framing'],
  stringify: (value: unknown) => string,
): string {
  if (framing === 'lines') return `${stringify(item)}\n`
  if (framing === 'records') return `\u001e${stringify(item)}\n`
  const { event, id, retry, data } = item as ServerEvent
  const fields = [
    ...fieldOf('event', event),
    ...fieldOf('id', id),
    ...fieldOf('retry', retry),
    ...(data === undefined ? [] : textOf(data, stringify).split(LINE_END)).map((line) => `data: ${line}\n`),
  ]
  return `${fields.join('')}\n`
}

const LINE_END = /\r\n|\r|\n/

const textOf = (data: unknown, stringify: (value: unknown) => string): string =>
  typeof data === 'string' ? data : stringify(data)

function fieldOf(name: string, value: string | number | undefined): string[] {
  if (value === undefined) return []
  const text = String(value)
  if (LINE_END.test(text) || text.includes('\0'))
    throw new Error(
      `The ${name} of a server-sent event must be one line of text: it is ${JSON.stringify(text)}`,
    )
  return [`${name}: ${text}\n`]
}

/**
 * Returns the body of a stream. An item is taken from the source only when the connection can send it. If the source or
 * `write` fails, the body fails, so that the connection breaks and the reader notices that the stream is incomplete.
 *
 * @param write returns the text of an item.
 * @param report receives the error of a stream that fails.
 * @param onEnd called once when the stream ends, fails or is canceled by the reader.
 */
export function toStream<Item>(
  items: AsyncIterable<Item>,
  write: (item: Item) => string,
  report: (error: unknown) => void,
  onEnd: () => void = () => undefined,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const iterator = items[Symbol.asyncIterator]()
  const fail = (error: unknown, controller: ReadableStreamDefaultController) => {
    report(error)
    controller.error(error)
    onEnd()
  }
  return new ReadableStream(
    {
      async pull(controller) {
        let next: IteratorResult<Item>
        try {
          next = await iterator.next()
        } catch (error) {
          return fail(error, controller)
        }
        try {
          if (!next.done) return controller.enqueue(encoder.encode(write(next.value)))
          controller.close()
          onEnd()
        } catch (error) {
          fail(error, controller)
          await iterator.return?.()
        }
      },
      async cancel() {
        onEnd()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
