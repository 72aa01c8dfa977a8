import type { Parameter } from 'dateline/runtime'
import { findNearest } from 'dateline/runtime/nearest'
import { type ApiError, type ErrorCode, invalidParameter, notFound } from './errors/errors.ts'
import type { ReceivedRequest, RequestParameters } from './exchange.ts'
import { didYouMean, explainFirst } from './explanation.ts'
import type { ApiRoute, VersionTable } from './version-table.ts'

/**
 * Path, query and Idempotency-Key, decoded strictly: nothing is coerced, guessed or left out silently. The path comes last: an
 * identifier that is malformed is answered as one that is unknown, which is looked for behind all of them.
 */
export function readParameters(
  received: ReceivedRequest,
  version: VersionTable,
  route: ApiRoute,
  pathValues: readonly string[],
): RequestParameters {
  const query = readQuery(received, version, route)
  const idempotencyKey = readIdempotencyKey(received, version, route)
  return { pathParameters: readPath(route, pathValues), query, idempotencyKey }
}

type DecodedParameters = Record<string, unknown>

/** A malformed identifier names nothing. */
function readPath(route: ApiRoute, pathValues: readonly string[]): DecodedParameters {
  const values: DecodedParameters = {}
  for (const [index, name] of route.pathNames.entries()) values[name] = pathValues[index]
  for (const { name, type, validate } of route.operation.pathParameters) {
    const value = readValue(type, values[name] as string)
    if (value === undefined || !validate(value)) throw notFound()
    values[name] = value
  }
  return values
}

function readQuery({ search }: ReceivedRequest, version: VersionTable, route: ApiRoute): DecodedParameters {
  const values: DecodedParameters = {}
  if (search !== '') {
    for (const [name, text] of splitQuery(search)) {
      const parameter = route.query.get(name)
      if (!parameter) throw unknownParameter(name, route.query)
      if (Object.hasOwn(values, name)) {
        throw invalidParameter('repeated_parameter', name, `${name} stands more than once.`)
      }
      values[name] = decodeValue(version, parameter, text)
    }
  }
  for (const { name } of route.requiredQuery) {
    if (!Object.hasOwn(values, name)) throw invalidParameter('missing_field', name, `${name} is required.`)
  }
  return values
}

/** Names the one that was probably meant, or else all that there are. */
function unknownParameter(name: string, known: ReadonlyMap<string, unknown>): ApiError {
  const names = [...known.keys()]
  const all = names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`
  const meant = didYouMean(findNearest(name, names))
  return invalidParameter(
    'unknown_parameter',
    name,
    `There is no parameter ${name} here${meant === '' ? `; ${all}` : meant}.`,
  )
}

const SHOWN_NAME = 100

/** Splits a query string; throws on what percent-encoding or UTF-8 do not allow. A plus is a space. */
function* splitQuery(search: string): Generator<readonly [string, string]> {
  for (const part of search.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const rawName = equals < 0 ? part : part.slice(0, equals)
    const name = decode(rawName, rawName.slice(0, SHOWN_NAME))
    yield [
      name.slice(0, SHOWN_NAME),
      equals < 0 ? '' : decode(part.slice(equals + 1), name.slice(0, SHOWN_NAME)),
    ]
  }
}

function decode(raw: string, param: string): string {
  const spaced = raw.includes('+') ? raw.replaceAll('+', ' ') : raw
  try {
    const text = spaced.includes('%') ? decodeURIComponent(spaced) : spaced
    if (!text.includes('\0')) return text
  } catch (error) {
    if (!(error instanceof URIError)) throw error
  }
  throw invalidParameter('invalid_format', param, `${param} is not percent-encoded UTF-8 text.`)
}

const INTEGER = /^(0|-?[1-9]\d*)$/
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/

function decodeValue(version: VersionTable, parameter: Parameter, text: string): unknown {
  const value = readValue(parameter.type, text)
  if (value === undefined) {
    throw invalidParameter(
      'invalid_format',
      parameter.name,
      `${parameter.name} must be ${NEEDS[parameter.type]}.`,
    )
  }
  if (!parameter.validate(value)) throw refuseValue(version, parameter, value)
  return parameter.set ? [value] : value
}

const NEEDS = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
} as const

function readValue(type: Parameter['type'], text: string): unknown {
  switch (type) {
    case 'string':
      return text
    case 'integer':
      return INTEGER.test(text) ? Number(text) : undefined
    case 'number':
      return NUMBER.test(text) ? Number(text) : undefined
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : undefined
  }
}

function refuseValue(version: VersionTable, { name, pointer, type }: Parameter, value: unknown) {
  const { issue } = explainFirst({ version, pointer }, value)
  return invalidParameter(faultCode(name, type), name, `${name} ${issue}.`)
}

function faultCode(name: string, type: Parameter['type']): ErrorCode {
  if (name === 'starting_after' || name === 'ending_before') return 'invalid_cursor'
  return type === 'integer' || type === 'number' ? 'out_of_range' : 'invalid_format'
}

const KEY_HEADER = 'Idempotency-Key'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

function readIdempotencyKey(
  { request, touched }: ReceivedRequest,
  version: VersionTable,
  { idempotency }: ApiRoute,
): string | undefined {
  if (idempotency === 'none') return undefined
  const header = request.headers['idempotency-key']
  if (header === undefined) {
    if (idempotency === 'optional') {
      const change = version.requiredLater.get(KEY_HEADER)
      if (change !== undefined) touched.add(change)
      return undefined
    }
    throw invalidParameter('missing_field', KEY_HEADER, `Every POST needs the header ${KEY_HEADER}.`)
  }
  const text = String(header)
  if (!UUID.test(text))
    throw invalidParameter('invalid_format', KEY_HEADER, `${KEY_HEADER} must be one UUID.`)
  return text.toLowerCase()
}
