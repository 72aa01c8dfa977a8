/** Serves a versioned API in a Hono application, on any platform that Hono supports. */
import type { VersionedApi } from './api.ts'

/**
 * Returns a handler for all paths of the API.
 *
 * @example app.all('/api/*', toHono(api))
 */
export const toHono =
  ({ fetch }: VersionedApi) =>
  (context: { readonly req: { readonly raw: Request } }): Promise<Response> =>
    fetch(context.req.raw)
