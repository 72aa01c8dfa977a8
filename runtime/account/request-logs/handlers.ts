import type { RequestLogsHandlers } from '../../../generated/canonical/handlers.ts'
import type { components } from '../../../generated/canonical/types.ts'
import { notFound } from '../../api/errors/errors.ts'
import type { Context } from '../../api/handler.ts'
import { readCreated, readPage, showList } from '../../api/lists/list-query.ts'
import {
  type LoggedRequest,
  listRequests,
  readRequest,
  statusesOf,
  type WholeRequest,
} from '../../api/request-log-queries.ts'
import { writeInstant } from '../../platform/instants.ts'

/**
 * Maximum number of requests that one call examines: fewer than for a page of the dashboard, because programs call more
 * often.
 */
const MAX_LOOKED = 1000

export const requestLogsHandlers = {
  async listRequestLogs({ caller, db, cursors }, { query }) {
    const page = readPage(query, cursors)
    const filter = {
      created: readCreated(query),
      ids: query.request_id,
      statuses: query.status?.flatMap(statusesOf),
      methods: query.method,
      paths: query.path,
      operations: query.operation,
      keyIds: query.key_id,
    }
    const found = await listRequests(db, caller.space, filter, page, MAX_LOOKED)
    return { status: 200, body: showList(found, page, cursors, showLog) }
  },

  async getRequestLog({ caller, db }, { path }) {
    const request = await readRequest(db, caller.space, path.request_id)
    if (!request) throw notFound()
    return { status: 200, body: showWholeLog(request) }
  },
} satisfies RequestLogsHandlers<Context>

type RequestLog = components['schemas']['RequestLog']

function showLog(request: LoggedRequest): RequestLog {
  const { id, method, target, path, operation, version, status, code, key_id, address, ms, created } = request
  return {
    id,
    object: 'request_log',
    method,
    path,
    query: target.slice(path.length + 1) || null,
    operation,
    version,
    status: Number(status),
    error_code: code,
    key_id,
    ip: address,
    duration_ms: ms,
    created: writeInstant(created),
  }
}

function showWholeLog(request: WholeRequest): RequestLog {
  const { created, ...log } = showLog(request)
  const { request_body, response_body } = request
  return { ...log, request_body, response_body, created }
}
