/**
 * Values that JSON does not have: integers that a number cannot hold, times and dates. Handlers and clients get them as objects;
 * validators and translations see JSON values, with a bigint only where a number would lose digits.
 */

/**
 * Marks an integer within text while JSON is read or written, because `JSON` cannot convert one exactly. It is random, so that
 * no text of a caller starts with it.
 */
const NAME = `bigint${crypto.getRandomValues(new Uint32Array(2)).join('')}`
const MARK = `\u0000${NAME}:`
const MARKED = new RegExp(`"\\\\u0000${NAME}:(-?\\d+)"`, 'g')
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Parses JSON. Integers that a number cannot hold exactly are bigints.
 *
 * @throws SyntaxError if the text is not JSON.
 */
export function parseExact(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  const marked = text.replace(TOKEN, (token) => (isInexact(token) ? `"\\u0000${NAME}:${token}"` : token))
  return JSON.parse(marked, (_name, value) =>
    typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value,
  )
}

const isInexact = (token: string): boolean =>
  /^-?[1-9]\d{15,}$/.test(token) && !Number.isSafeInteger(Number(token))

/** Writes JSON, with bigints as integers. */
export function stringifyExact(value: unknown): string {
  const text = JSON.stringify(value, (_name, each) => (typeof each === 'bigint' ? `${MARK}${each}` : each))
  return text.replaceAll(MARKED, '$1')
}

/**
 * Returns the JSON value of what a handler or a caller supplies: times and dates as text, and bigints as numbers if they fit.
 *
 * @throws RangeError if a Date is invalid.
 */
export function encode(value: unknown): unknown {
  if (typeof value === 'bigint')
    return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value
  if (typeof value !== 'object' || value === null || value instanceof Blob || ArrayBuffer.isView(value))
    return value
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return value.map(encode)
  if ('toJSON' in value && typeof value.toJSON === 'function') return value.toJSON()
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, encode(each)]))
}

/** Returns an `int64` as a bigint. */
export const toBigint = (value: number | bigint): bigint => BigInt(value)

/** Returns a `date-time` as a Date, which has milliseconds. A leap second is the second before it. */
export const toDate = (text: string): Date => new Date(text.replace(/:60(?=[.Zz+-])/, ':59'))

/** Returns a `date-time` as a `Temporal.Instant`. @throws Error if the platform has no Temporal. */
export const toInstant = (text: string): unknown => temporal().Instant.from(text)

/** Returns a `date` as a `Temporal.PlainDate`. @throws Error if the platform has no Temporal. */
export const toPlainDate = (text: string): unknown => temporal().PlainDate.from(text)

/**
 * Returns the functions that a client uses for an operation.
 *
 * @param decode makes the caller's value from a JSON value; absent if they are the same.
 */
export const codecOf = (decode?: (value: unknown) => unknown) => ({
  parse: parseExact,
  stringify: stringifyExact,
  encode,
  ...(decode && { decode }),
})

/** Returns the same for webhooks. @param decoders functions by the `type` of the event that they decode. */
export const eventCodecOf = (decoders: Readonly<Record<string, (value: unknown) => unknown>>) =>
  codecOf((event) => {
    const type = typeof event === 'object' && event !== null && 'type' in event ? String(event.type) : ''
    return Object.hasOwn(decoders, type) ? decoders[type]!(event) : event
  })

type Factory = { readonly from: (text: string) => unknown }

function temporal(): { readonly Instant: Factory; readonly PlainDate: Factory } {
  const { Temporal } = globalThis as { readonly Temporal?: ReturnType<typeof temporal> }
  if (Temporal) return Temporal
  throw new Error('This platform has no Temporal: load a polyfill that sets globalThis.Temporal')
}
