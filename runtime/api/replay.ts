/** Replays requests of the request log in a later version, without sending them. */
import { readLogLine } from 'dateline/runtime/recorded'
import { createReplay, type ReplayedExchange } from 'dateline/runtime/replay'
import { type ApiDocument, readDocument } from './explanation.ts'
import type { LoggedRequest, WholeRequest } from './request-log-queries.ts'
import type { ServiceVersion } from './version-table.ts'

/** A logged request; its answer is optional. */
type RequestToReplay = Pick<LoggedRequest, 'method' | 'target'> &
  Pick<WholeRequest, 'request_body'> &
  Partial<Pick<WholeRequest, 'status' | 'response_body'>>

/** Replays a request. Undefined if the caller's version has no such operation. */
export type ReplayLogged = (request: RequestToReplay) => ReplayedExchange | undefined

/** Documents are parsed once, by version. */
const documents = new Map<string, ApiDocument>()

function documentOf(name: string): ReturnType<ApiDocument['parsed']> {
  const document = documents.get(name) ?? readDocument(name)
  documents.set(name, document)
  return document.parsed()
}

/** @param versions oldest first. @param from, to names of versions. */
export function createReplayLogged(
  versions: readonly ServiceVersion[],
  from: string,
  to: string,
): ReplayLogged {
  const side = (name: string) => ({
    version: versions.find((version) => version.name === name)!,
    document: documentOf(name),
  })
  // The tables translate requests to the newest version only.
  const replay = createReplay({ ...side(from), translates: to === versions.at(-1)?.name }, side(to))
  return (request) => replay(readLogLine(request))
}
