/** Collects the error codes of all versions, with their remedies. */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api } from '../../ir/model.ts'
import { errorCatalogue } from '../wire/error-catalogue.ts'

/** The hand-written text about an error code. */
export interface ErrorEntry {
  readonly remedy: string
  /** Status and body of a response with the code, if no document has an example. */
  readonly status?: number
  readonly example?: unknown
}

export interface ExplainedError {
  readonly code: string
  readonly statuses: string
  /** The oldest version that has the code. */
  readonly since: string
  readonly cause: string
  readonly remedy: string
  /** Body of a response with the code. */
  readonly example: string
}

/**
 * Combines the error codes with their hand-written entries.
 *
 * @param entries by code.
 * @throws if a code has no entry or no example, or an entry has an unknown code.
 */
export function readErrors(
  apis: readonly Api[],
  wire: Wire,
  entries: Readonly<Record<string, ErrorEntry>>,
): ExplainedError[] {
  const catalogues = apis.map((api) => ({ version: api.version, errors: errorCatalogue(api, wire) }))
  const codes = [...new Set(catalogues.toReversed().flatMap(({ errors }) => errors.map(({ code }) => code)))]
  const strange = Object.keys(entries).filter((code) => !codes.includes(code))
  if (strange.length > 0)
    throw new Error(`an entry describes an error code that no version has: ${strange.join(', ')}`)
  return codes.map((code) => {
    const own = catalogues.flatMap(({ version, errors }) =>
      errors.filter((each) => each.code === code).map((error) => ({ version, error })),
    )
    const newest = own.at(-1)!.error
    const entry = entries[code]
    const example = own.flatMap(({ error }) => error.examples).at(-1) ?? entry?.example
    if (!entry || example === undefined) throw new Error(`the error code ${code} has no entry or no example`)
    const statuses = unique(own.flatMap(({ error }) => error.statuses))
    return {
      code,
      statuses: statuses.join(', ') || String(entry.status),
      since: own[0]!.version,
      cause: newest.description ?? '',
      remedy: entry.remedy,
      example: JSON.stringify(example, null, 2),
    }
  })
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)]
