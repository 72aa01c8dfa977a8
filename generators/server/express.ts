/** Serves a versioned API in an Express application. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { VersionedApi } from './api.ts'
import { toNodeListener } from './node.ts'

/**
 * @returns a middleware. Mount it before `express.json()`: the API reads the body itself. It answers every request under its path.
 * @example app.use(toExpress(api))
 */
export const toExpress = (
  api: VersionedApi,
): ((request: IncomingMessage, response: ServerResponse) => void) => toNodeListener(api)
