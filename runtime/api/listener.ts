import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import express from 'express'
import { isUnavailable } from '../database/errors.ts'
import { ApiError, internalError, notFound, unavailable } from './errors/errors.ts'
import type { ApiService } from './exchange.ts'
import { runPipeline } from './pipeline.ts'
import { createUnversioned, sendError } from './unversioned.ts'

/**
 * The API of one environment, to be attached to a port of its own: `/v1` goes through the pipeline, Express answers the rest.
 *
 * @param answerHolder answers what needs no key and is not described by the documents; undefined for what it does not know.
 * @param watch wraps the whole, where everything is to be validated a second time.
 */
export function createApiListener(
  service: ApiService,
  isReady: () => Promise<boolean>,
  answerHolder: (request: IncomingMessage, response: ServerResponse) => Promise<void> | undefined,
  watch: (listener: RequestListener) => RequestListener = (listener) => listener,
): RequestListener {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.use(createUnversioned(service, isReady))
  const fail = (response: ServerResponse, error?: unknown) => {
    if (response.headersSent) response.destroy()
    else sendError(response, service, describeFailure(service, error))
  }
  const listener: RequestListener = (request, response) => {
    // Past Express, which gives each request and response another prototype: that costs more than all stages together.
    if (isVersioned(request.url ?? '/')) {
      runPipeline(request, response, service).catch((error) => fail(response, error))
      return
    }
    const visited = answerHolder(request, response)
    if (visited) {
      visited.catch((error) => fail(response, error))
      return
    }
    // Express calls back for what has no route, what failed, and targets that it cannot read at all.
    app(request as express.Request, response as express.Response, (error?: unknown) => fail(response, error))
  }
  return watch(listener)
}

/** @param error undefined where nothing failed, but there is no route. */
function describeFailure({ log }: ApiService, error: unknown): ApiError {
  if (error === undefined) return notFound('There is nothing here.')
  if (error instanceof ApiError) return error
  // The router cannot decode a name in the path, so no route has it.
  if (error instanceof URIError) return notFound('There is nothing here.')
  if (isUnavailable(error)) {
    log.warn({ err: error }, 'the database is unavailable')
    return unavailable()
  }
  log.error({ err: error }, 'a request outside /v1 failed')
  return internalError()
}

/** Also where a proxy sends the target whole (RFC 9112, 3.2.2). */
function isVersioned(target: string): boolean {
  return target.startsWith('/v1/') || /^(https?:\/\/[^/?#]*)?\/v1(?![^/?])/i.test(target)
}
