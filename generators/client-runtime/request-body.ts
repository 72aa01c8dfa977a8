/** Bodies that are not JSON. The client of a version imports only the functions that its operations have bodies for. */
import { ClientError } from './errors.ts'
import { writeParameter } from './parameters.ts'
import type { EncodedBody, OperationRow, PartRow } from './service.ts'

/**
 * `application/x-www-form-urlencoded`: a list repeats its name and an object is JSON, unless the document names a style.
 *
 * @throws ClientError if a value cannot be written in its style.
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
 * `multipart/form-data` (RFC 7578). `FormData` would name every part that has a media type as a file.
 *
 * @throws ClientError if the client cannot write a part.
 */
export function encodeMultipart(body: unknown, { parts = {} }: OperationRow): EncodedBody {
  const boundary = crypto.randomUUID()
  const chunks = Object.entries(body ?? {}).flatMap(([name, value]) => {
    const part = parts[name]
    if (part?.style) throw new ClientError(`The part ${name} cannot be written by this client`)
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

/** As browsers write names in multipart bodies (HTML, "Multipart form data"). */
const quoted = (name: string): string =>
  name.replace(/["\r\n]/g, (each) => `%${each.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`)

/** A list is sent member by member, an absent value not at all. */
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
 * A body that the caller has written.
 *
 * @throws ClientError if it is neither text nor bytes.
 */
export function encodeRaw(body: unknown, { media = '' }: OperationRow): EncodedBody {
  if (typeof body !== 'string' && !isBytes(body)) {
    throw new ClientError(`A body of ${media} is sent as it is given: give it as text, a Blob, or bytes`)
  }
  const own = body instanceof Blob ? body.type : ''
  return { body, type: media.includes('*') ? own || 'application/octet-stream' : media }
}
