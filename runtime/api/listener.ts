import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import express from 'express'
import { isUnavailable } from '../database/errors.ts'
import { ApiError, internalError, notFound, unavailable } from './errors/errors.ts'
import type { ApiService } from './exchange.ts'
import { runPipeline } from './pipeline.ts'
import { createUnversioned, sendError } from './unversioned.ts'

/**
 * Creates the listener of one environment's API, for a separate port. Requests to `/v1` go through the pipeline;
 * Express answers the others.
 *
 * @param answerHolder answers pass links and other requests without a key that the documents do not describe; returns
 * undefined for unknown paths.
 * @param watch wraps the listener, to validate all traffic a second time.
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
    // Bypass Express: it replaces the prototypes of request and response, which costs more than all stages together.
    if (isVersioned(request.url ?? '/')) {
      runPipeline(request, response, service).catch((error) => fail(response, error))
      return
    }
    const visited = answerHolder(request, response)
    if (visited) {
      visited.catch((error) => fail(response, error))
      return
    }
    // Express calls back if there is no route, if a handler failed, or if it cannot parse the target.
    app(request as express.Request, response as express.Response, (error?: unknown) => fail(response, error))
  }
  return watch(listener)
}

/** @param error undefined if there is no route. */
function describeFailure({ log }: ApiService, error: unknown): ApiError {
  if (error === undefined) return notFound('This path does not exist.')
  if (error instanceof ApiError) return error
  // The router cannot decode a parameter of the path, so no route matches.
  if (error instanceof URIError) return notFound('This path does not exist.')
  if (isUnavailable(error)) {
    log.warn({ err: error }, 'database unavailable')
    return unavailable()
  }
  log.error({ err: error }, 'request outside /v1 failed')
  return internalError()
}

/** Also matches the absolute form of the target, which proxies may send (RFC 9112, section 3.2.2). */
function isVersioned(target: string): boolean {
  return target.startsWith('/v1/') || /^(https?:\/\/[^/?#]*)?\/v1(?![^/?])/i.test(target)
}
