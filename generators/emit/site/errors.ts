/** Every error code of all versions, with what to do about it. */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api } from '../../ir/model.ts'
import { errorCatalogue } from '../wire/error-catalogue.ts'

/** What people write of a code. */
export interface ErrorEntry {
  readonly remedy: string
  /** Status and body of such an answer, where no document has an example. */
  readonly status?: number
  readonly example?: unknown
}

export interface ExplainedError {
  readonly code: string
  readonly statuses: string
  /** The oldest version that has it. */
  readonly since: string
  readonly cause: string
  readonly remedy: string
  /** The body of such an answer. */
  readonly example: string
}

/**
 * @param entries what is written, by code.
 * @throws where a code has no entry or no example, or an entry is about no code.
 */
export function readErrors(
  apis: readonly Api[],
  wire: Wire,
  entries: Readonly<Record<string, ErrorEntry>>,
): ExplainedError[] {
  const catalogues = apis.map((api) => ({ version: api.version, errors: errorCatalogue(api, wire) }))
  const codes = [...new Set(catalogues.toReversed().flatMap(({ errors }) => errors.map(({ code }) => code)))]
  const strange = Object.keys(entries).filter((code) => !codes.includes(code))
  if (strange.length > 0) throw new Error(`no version has the error code ${strange.join(', ')}`)
  return codes.map((code) => {
    const own = catalogues.flatMap(({ version, errors }) =>
      errors.filter((each) => each.code === code).map((error) => ({ version, error })),
    )
    const newest = own.at(-1)!.error
    const entry = entries[code]
    const example = own.flatMap(({ error }) => error.examples).at(-1) ?? entry?.example
    if (!entry || example === undefined) throw new Error(`nothing is written of the error code ${code}`)
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
