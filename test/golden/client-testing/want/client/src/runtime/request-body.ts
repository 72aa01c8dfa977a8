/** Encodes bodies that are not JSON. The client of a version imports only the functions that its operations need. */
import { ClientError } from './errors.ts'
import { writeParameter } from './parameters.ts'
import type { EncodedBody, OperationRow, PartRow } from './service.ts'

/**
 * Encodes an `application/x-www-form-urlencoded` body. A list repeats its name and an object is JSON, unless the API
 * description specifies a style.
 *
 * @throws ClientError if a style cannot represent its value.
 */
export function encodeForm(body: unknown, { parts = {} }: OperationRow): EncodedBody {
  const pairs = Object.entries(body ?? {}).flatMap(([name, value]) => {
    const part = parts[name]
    if (part?.style) return writeParameter({ name, in: 'query', ...part, style: part.style }, value) ?? []
    return membersOf(value, part).map((each) => String(new URLSearchParams([[name, textOf(each, part)]])))
  })
  return { body: pairs.join('&'), type: 'application/x-www-form-urlencoded' }
}

/**
 * Encodes a `multipart/form-data` body (RFC 7578). `FormData` is not used, because it gives every part with a media
 * type a file name.
 *
 * @throws ClientError if a part has a style.
 */
export function encodeMultipart(body: unknown, { parts = {} }: OperationRow): EncodedBody {
  const boundary = crypto.randomUUID()
  const chunks = Object.entries(body ?? {}).flatMap(([name, value]) => {
    const part = parts[name]
    if (part?.style) throw new ClientError(`The part ${name} has a style that this client does not support`)
    return membersOf(value, part).map((each) => encodePart(boundary, name, each, part))
  })
  return {
    body: new Blob([...chunks, `--${boundary}--\r\n`]),
    type: `multipart/form-data; boundary=${boundary}`,
  }
}

function encodePart(boundary: string, name: string, value: unknown, part: PartRow | undefined): Blob {
  const isFile = isBytes(value)
  const ownType = value instanceof Blob ? value.type : ''
  const type =
    part?.type ??
    (isFile ? ownType || 'application/octet-stream' : isJsonPart(value, part) && 'application/json')
  const filename = value instanceof File ? value.name : 'blob'
  return new Blob([
    `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`,
    isFile ? `; filename="${quoted(filename)}"` : '',
    `${type ? `\r\nContent-Type: ${type}` : ''}\r\n\r\n`,
    isFile ? (value as Blob) : textOf(value, part),
    '\r\n',
  ])
}

/** Escapes a name as browsers do (HTML, "Multipart form data"). */
const quoted = (name: string): string =>
  name.replace(/["\r\n]/g, (each) => `%${each.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`)

/** Returns the values to send: the members of a list, and nothing for undefined. */
function membersOf(value: unknown, part: PartRow | undefined): unknown[] {
  const members = Array.isArray(value) && !part?.json ? value : [value]
  return members.filter((each) => each !== undefined)
}

const isJsonPart = (value: unknown, part: PartRow | undefined): boolean =>
  part?.json === true || (typeof value === 'object' && value !== null)

const textOf = (value: unknown, part: PartRow | undefined): string =>
  isJsonPart(value, part) ? JSON.stringify(value) : String(value)

type Bytes = Blob | ArrayBuffer | Uint8Array

const isBytes = (value: unknown): value is Bytes =>
  value instanceof Blob || value instanceof ArrayBuffer || ArrayBuffer.isView(value)

/**
 * Encodes a body that the caller has already serialized.
 *
 * @throws ClientError if it is neither text nor bytes.
 */
export function encodeRaw(body: unknown, { media = '' }: OperationRow): EncodedBody {
  if (typeof body !== 'string' && !isBytes(body)) {
    throw new ClientError(`The body (${media}) must be a string, a Blob, or bytes`)
  }
  const own = body instanceof Blob ? body.type : ''
  return { body, type: media.includes('*') ? own || 'application/octet-stream' : media }
}
