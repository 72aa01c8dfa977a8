/** Serves a versioned API in a Fastify application. */
import type { FastifyInstance } from 'fastify'
import type { VersionedApi } from './api.ts'
import { toNodeListener } from './node.ts'

/**
 * @returns a plugin with a route for every path under its prefix. The API reads bodies itself, so the plugin removes Fastify's parsers
 *   within its scope.
 * @example await app.register(toFastify(api))
 */
export const toFastify = (api: VersionedApi) => {
  const listener = toNodeListener(api)
  return async (app: FastifyInstance): Promise<void> => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('*', async (request, reply) => {
      reply.hijack()
      await listener(request.raw, reply.raw)
    })
  }
}
