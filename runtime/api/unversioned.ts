import type { ServerResponse } from 'node:http'
import express from 'express'
import { newId } from '../platform/ids.ts'
import { withBaseUrls } from '../tenants/addresses/base-urls.ts'
import { type ApiError, describeError, notFound, unavailable } from './errors/errors.ts'
import type { ApiService } from './exchange.ts'
import type { VersionTable } from './version-table.ts'

/** Creates the routes outside /v1, which need no key. */
export function createUnversioned(service: ApiService, isReady: () => Promise<boolean>): express.Router {
  const router = express.Router({ caseSensitive: true, strict: true })
  router.get('/livez', (_request, response) => sendJson(response, 200, '{"status":"ok"}'))
  router.get('/readyz', async (_request, response) => {
    if (await isReady()) sendJson(response, 200, '{"status":"ok"}')
    else sendError(response, service, unavailable('The service is not ready yet. Try again in a moment.'))
  })
  // Language models look for the documentation here (llmstxt.org).
  router.get('/llms.txt', (_request, response) =>
    response.redirect(`${service.baseUrls.console}/docs/llms.txt`),
  )
  // Search engines must not index the API (RFC 9309).
  router.get('/robots.txt', (_request, response) => {
    response.type('text/plain').send('User-agent: *\nDisallow: /\n')
  })
  router.get('/openapi.json', (_request, response) =>
    sendDocument(response, service, service.versions.current),
  )
  router.get('/openapi/:file', (request, response) => {
    const name = /^(.+)\.json$/.exec(request.params.file)?.[1]
    const version = name === undefined ? undefined : service.versions.find(name)
    if (version) sendDocument(response, service, version)
    else sendError(response, service, notFound('There is no OpenAPI document with this name.'))
  })
  return router
}

function sendDocument(response: ServerResponse, { baseUrls }: ApiService, { document }: VersionTable): void {
  sendJson(response, 200, withBaseUrls(document.bytes.toString(), baseUrls))
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: string,
  headers: readonly string[] = [],
): void {
  response.writeHead(status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(body)),
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    ...headers,
  ])
  response.end(body)
}

/** Sends an error of the contract for a request outside the pipeline. */
export function sendError(response: ServerResponse, service: ApiService, error: ApiError): void {
  const requestId = newId('req', service.clock.service(service.environment))
  const body = {
    ...describeError(error, requestId),
    doc_url: service.versions.docUrl(error.code),
  }
  sendJson(response, error.status, JSON.stringify({ error: body }), [
    'Request-Id',
    requestId,
    ...(error.parts.headers ?? []),
  ])
}
