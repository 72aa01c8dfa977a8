/** Reads lines of request logs as exchanges. */
import { isObject, type Json } from './explain/walk.ts'
import type { RecordedExchange } from './replay.ts'

/** Thrown for a record that is no exchange. The message follows the location of the record. */
export class RecordFault extends Error {}

/** An exchange with the caller and the version that its record names. */
export interface LoggedExchange extends RecordedExchange {
  readonly caller?: string
  readonly version?: string
}

/**
 * Reads a line of a request log: an object with `method`, `target` (or `url`, or `path` and `query`), and optionally `status`,
 * `version`, `caller` (or `key_id`), `request_headers`, `request_body` and `response_body`. Bodies are JSON values, or their text.
 *
 * @throws RecordFault if it has no method or target
 */
export function readLogLine(row: Json): LoggedExchange {
  const { method, target, url, path, query, version, caller, key_id, request_headers } = row
  const given = typeof target === 'string' ? target : typeof url === 'string' ? targetOf(url) : path
  if (typeof method !== 'string' || typeof given !== 'string')
    throw new RecordFault('has no `method` and `target`')
  const by = caller ?? key_id
  const status = Number(row.status ?? Number.NaN)
  return {
    method: method.toUpperCase(),
    target: given === path && typeof query === 'string' && query !== '' ? `${given}?${query}` : given,
    ...(isObject(request_headers) && { headers: lowerNames(Object.entries(request_headers)) }),
    ...(typeof by === 'string' && { caller: by }),
    ...(typeof version === 'string' && { version }),
    ...(Number.isInteger(status) && { status }),
    ...recordedBody('body', row.request_body),
    ...recordedBody('answer', row.response_body),
  }
}

/** Text that is not JSON, for example because the log shortened it, counts as not recorded. */
export function recordedBody(
  name: 'body' | 'answer',
  given: unknown,
): Pick<RecordedExchange, 'body' | 'answer'> {
  if (given === undefined || given === null || given === '') return {}
  const value = typeof given === 'string' ? jsonOf(given) : given
  return value === undefined ? {} : { [name]: value }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Returns headers with their names in lower case. */
export const lowerNames = (pairs: readonly (readonly [string, unknown])[]): Record<string, string> =>
  Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), String(value)]))

/** Returns path and query of a URL. */
export function targetOf(url: string): string {
  const origin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url)?.[0] ?? ''
  const target = url.slice(origin.length).replace(/#.*$/, '')
  return target.startsWith('/') ? target : `/${target}`
}
