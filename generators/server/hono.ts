/** Serves a versioned API in a Hono application, on any platform that Hono runs on. */
import type { Handler } from 'hono'
import type { VersionedApi } from './api.ts'

/**
 * @returns a handler for all paths of the API.
 * @example app.all('/api/*', toHono(api))
 */
export const toHono =
  ({ fetch }: VersionedApi): Handler =>
  (context) =>
    fetch(context.req.raw)
