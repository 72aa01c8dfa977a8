import express, { type Router } from 'express'
import type { Registry } from 'prom-client'
import { requireToken } from './access.ts'

export interface PagesParts {
  readonly registry: Registry
  readonly isReady: () => Promise<boolean>
  /** Token that `/metrics` requires. Absent: it is open. */
  readonly token: string | undefined
}

/** Creates the pages for operators that every process can serve: metrics and readiness. */
export function createObservabilityPages({ registry, isReady, token }: PagesParts): Router {
  const router = express.Router({ caseSensitive: true, strict: true })
  router.get(
    '/metrics',
    ...(token === undefined ? [] : [requireToken(token)]),
    async (_request, response) => {
      const text = await registry.metrics()
      response.set({ 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' }).send(text)
    },
  )
  router.get('/readyz', async (_request, response) => {
    const ready = await isReady()
    response.set('Cache-Control', 'no-store')
    if (ready) response.type('text').send('ok\n')
    else response.status(503).set('Retry-After', '1').type('text').send('not ready\n')
  })
  return router
}
