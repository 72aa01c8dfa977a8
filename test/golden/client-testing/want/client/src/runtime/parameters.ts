/**
 * Serializes parameters in the styles of OpenAPI 3.1 ("Style Values"), which are those of RFC 6570. The client of a
 * version imports this file only if an operation has a parameter that openapi-fetch cannot serialize.
 */
import { ClientError } from './errors.ts'
import type {
  NamedValues,
  OperationRow,
  ParameterRow,
  ParameterValues,
  WrittenParameters,
} from './service.ts'

/**
 * Serializes the parameters of a call. @throws ClientError if a value cannot be written in the style of its parameter.
 */
export function writeParameters(
  { path, parameters = [] }: OperationRow,
  { path: segments = {}, header = {}, cookie = {} }: ParameterValues,
): WrittenParameters {
  const writeAll = (where: ParameterRow['in'], values: NamedValues): [string, string][] =>
    Object.entries(values).flatMap(([name, value]) => {
      const row = parameters.find((each) => each.in === where && each.name === name)
      const written = writeParameter(row ?? { name, in: where, ...USUAL[where] }, value)
      return written === undefined ? [] : [[name, written]]
    })
  const join = (where: ParameterRow['in'], values: NamedValues, separator: string) =>
    writeAll(where, values)
      .map(([, written]) => written)
      .join(separator)
  return {
    path: parameters
      .filter((each) => each.in === 'path')
      .reduce((filled, row) => filled.replace(`{${row.name}}`, () => writeSegment(row, segments)), path),
    header: Object.fromEntries(writeAll('header', header)),
    cookie: join('cookie', cookie, '; '),
    querySerializer: (query) => join('query', query, '&'),
  }
}

const USUAL = {
  path: { style: 'simple' },
  query: { style: 'form', explode: true },
  header: { style: 'simple' },
  cookie: { style: 'form' },
} as const

/**
 * Rejects empty and dot segments: URL parsing would remove them, so that the request would reach a different operation.
 */
function writeSegment(row: ParameterRow, values: NamedValues): string {
  const written = writeParameter(row, values[row.name]) ?? ''
  return ['', '.', '..'].includes(written) ? refuse(row, 'must not be empty, "." or ".."') : written
}

/**
 * Serializes a parameter.
 *
 * @returns the text, with the name if the style includes it; undefined if the value is absent or an empty list or
 *   object.
 * @throws ClientError if the style cannot represent the value.
 */
export function writeParameter(row: ParameterRow, given: unknown): string | undefined {
  if (given === undefined || given === null) return undefined
  const { style, explode } = row
  if (style === 'none') return refuse(row, 'has a style that this client does not support')
  const value = row.json ? asciiJson(given) : given
  const name = encodeURIComponent(row.name)
  const isNamed = style !== 'simple' && style !== 'label'
  const prefix = style === 'label' ? '.' : style === 'matrix' ? ';' : ''
  if (typeof value !== 'object') {
    const text = encode(row, value)
    return prefix + (isNamed ? name + (style === 'matrix' && text === '' ? '' : `=${text}`) : text)
  }
  const isList = Array.isArray(value)
  const separator = separatorOf(row)
  const members = Object.entries(value as NamedValues)
    .filter(([, each]) => each !== undefined && each !== null)
    .map(([key, each]) => [isList ? name : encode(row, key), encode(row, each, separator)] as const)
  if (members.length === 0) return undefined
  if (style === 'deepObject') return members.map(([key, text]) => `${name}%5B${key}%5D=${text}`).join('&')
  const parts = members.map(([key, text]) => {
    if (isList) return explode && isNamed ? `${key}=${text}` : text
    return explode ? `${key}=${text}` : key + separator + text
  })
  return prefix + (isNamed && !explode ? `${name}=` : '') + parts.join(separator)
}

const JOINED: Readonly<Record<string, string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' }
const EXPLODED: Readonly<Record<string, string>> = { simple: ',', label: '.', matrix: ';' }

function separatorOf({ style, explode }: ParameterRow): string {
  return explode ? (EXPLODED[style] ?? '&') : (JOINED[style] ?? ',')
}

/**
 * Encodes a single value. Throws if the value contains the separator, because a reader could not split the list
 * correctly.
 *
 * @param separator separator of the list or object that contains the value.
 */
function encode(row: ParameterRow, value: unknown, separator = ''): string {
  if (typeof value === 'object')
    return refuse(row, 'contains a nested list or object, which its style cannot represent')
  const text = String(value)
  const isRaw = row.in === 'header'
  if (separator && (isRaw || JOINED[row.style]) && text.includes(decodeURIComponent(separator))) {
    return refuse(row, `has a value that contains the separator "${decodeURIComponent(separator)}"`)
  }
  if (isRaw) return text
  if (!row.reserved) return encodeURIComponent(text)
  const kept = text.replace(RESERVED, (each) => (each.length === 3 ? each : encodeURIComponent(each)))
  return separator === ',' ? kept.replaceAll(',', '%2C') : kept
}

/**
 * Matches what `allowReserved` must not keep. Unreserved and reserved characters stay, and so do percent-encoded ones.
 * The client encodes reserved characters that a query cannot contain (`[`, `]`, `#`) or that have a meaning there (`&`,
 * `+`), as OpenAPI requires.
 */
const RESERVED = /%[\da-f]{2}|[^\w.~\-:/?@!$'()*,;=]/giu

/** Writes JSON with ASCII characters only, because headers cannot contain others. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function refuse({ name }: ParameterRow, why: string): never {
  throw new ClientError(`The parameter ${name} ${why}`)
}
