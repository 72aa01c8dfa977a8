import type { Parameter } from 'dateline/runtime'
import { findNearest } from 'dateline/runtime/nearest'
import {
  joinField,
  ParameterError,
  type ParameterFault,
  type QueryTable,
  readQuery,
  readSegment,
} from 'dateline/runtime/parameters'
import { type ApiError, type ErrorCode, invalidParameter, notFound } from './errors/errors.ts'
import type { ReceivedRequest, RequestParameters } from './exchange.ts'
import { didYouMean, explainFirst } from './explanation.ts'
import type { ApiRoute, VersionTable } from './version-table.ts'

/**
 * Decodes path, query and Idempotency-Key strictly: nothing is coerced, guessed or dropped silently. The path comes
 * last, so that a malformed identifier is answered like an unknown one, which is also found only after all other
 * checks.
 */
export function readParameters(
  received: ReceivedRequest,
  version: VersionTable,
  route: ApiRoute,
  pathValues: readonly string[],
): RequestParameters {
  const query = readSearch(received, version, route)
  const idempotencyKey = readIdempotencyKey(received, version, route)
  return { pathParameters: readPath(route, pathValues), query, idempotencyKey }
}

/** Reads the path. A malformed identifier is answered with 404, because it cannot name an object. */
function readPath(route: ApiRoute, pathValues: readonly string[]): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const parameter of route.operation.pathParameters) {
    const raw = pathValues[route.pathNames.indexOf(parameter.name)] as string
    try {
      values[parameter.name] = readSegment(parameter, raw)
    } catch (error) {
      throw error instanceof ParameterError ? notFound() : error
    }
  }
  return values
}

function readSearch(
  { search }: ReceivedRequest,
  version: VersionTable,
  route: ApiRoute,
): Record<string, unknown> {
  try {
    return readQuery(route.query, search)
  } catch (error) {
    throw error instanceof ParameterError ? refuseParameter(error, version, route.query) : error
  }
}

const CODES: Readonly<Record<Exclude<ParameterFault, 'unknown'>, ErrorCode>> = {
  repeated: 'repeated_parameter',
  missing: 'missing_field',
  encoding: 'invalid_format',
  format: 'invalid_format',
  invalid: 'invalid_format',
}

function refuseParameter(
  { fault, field, issue, refused }: ParameterError,
  version: VersionTable,
  { named }: QueryTable,
): ApiError {
  if (refused) return refuseValue(version, refused.parameter, refused.value)
  if (fault === 'unknown') return unknownParameter(field, named)
  return invalidParameter(CODES[fault], field, `${field} ${issue}.`)
}

/** Suggests a similar parameter, or lists all parameters of the operation. */
function unknownParameter(name: string, known: ReadonlyMap<string, unknown>): ApiError {
  const names = [...known.keys()]
  const all = names.length === 0 ? 'the operation has no parameters' : `expected one of ${names.join(', ')}`
  const meant = didYouMean(findNearest(name, names))
  return invalidParameter(
    'unknown_parameter',
    name,
    `There is no parameter ${name}${meant === '' ? `; ${all}` : meant}.`,
  )
}

function refuseValue(version: VersionTable, { name, pointer, type }: Parameter, value: unknown): ApiError {
  const { field, issue } = explainFirst({ version, pointer }, value)
  const at = joinField(name, field)
  return invalidParameter(faultCode(name, type), at, `${at} ${issue}.`)
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
    throw invalidParameter(
      'missing_field',
      KEY_HEADER,
      `The header ${KEY_HEADER} is missing. Every POST requires it; send a new UUID.`,
    )
  }
  const text = String(header)
  if (!UUID.test(text))
    throw invalidParameter('invalid_format', KEY_HEADER, `${KEY_HEADER} must be a single UUID.`)
  return text.toLowerCase()
}
