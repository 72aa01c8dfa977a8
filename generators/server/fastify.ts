/** Serves a versioned API in a Fastify application. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { VersionedApi } from './api.ts'
import { toNodeListener } from './node.ts'

/** The part of a Fastify instance that the plugin uses, in Fastify 4 and 5. */
interface FastifyScope {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    type: string,
    parser: (request: unknown, payload: unknown, done: (error: null) => void) => void,
  ): void
  all(
    path: string,
    handler: (
      request: { readonly raw: IncomingMessage },
      reply: { readonly raw: ServerResponse; hijack(): unknown },
    ) => Promise<void>,
  ): void
}

/**
 * Returns a plugin that answers every path under its prefix. The API reads bodies itself, so the plugin removes Fastify's body
 * parsers within its scope.
 *
 * @example await app.register(toFastify(api))
 */
export const toFastify = (api: VersionedApi) => {
  const listener = toNodeListener(api)
  return async (app: FastifyScope): Promise<void> => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('*', async (request, reply) => {
      reply.hijack()
      listener(request.raw, reply.raw)
    })
  }
}
