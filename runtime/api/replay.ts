/** Replays requests of the request log in a later version, without sending them. */
import { type LoggedExchange, readLogLine } from 'dateline/runtime/recorded'
import { createReplay, type ReplayedExchange } from 'dateline/runtime/replay'
import { readDocument } from './explanation.ts'
import type { WholeRequest } from './request-log-queries.ts'
import type { ServiceVersion } from './version-table.ts'

/** Replays a request. Undefined if the caller's version has no such operation. */
export type ReplayLogged = (request: WholeRequest) => ReplayedExchange | undefined

/** @param versions oldest first. */
export function createReplayLogged(
  versions: readonly ServiceVersion[],
  from: ServiceVersion,
  to: ServiceVersion,
): ReplayLogged {
  const side = (version: ServiceVersion) => ({ version, document: readDocument(version.name).parsed() })
  // The tables translate requests to the newest version only.
  const replay = createReplay({ ...side(from), translates: to === versions.at(-1) }, side(to))
  return (request) => replay(exchangeOf(request))
}

const exchangeOf = (request: WholeRequest): LoggedExchange => readLogLine({ ...request })
