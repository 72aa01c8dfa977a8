import express, { type Router } from 'express'
import type { Registry } from 'prom-client'

export interface PagesParts {
  readonly registry: Registry
  readonly isReady: () => Promise<boolean>
}

/** Creates the console pages for operators: metrics and readiness. */
export function createObservabilityPages({ registry, isReady }: PagesParts): Router {
  const router = express.Router({ caseSensitive: true, strict: true })
  router.get('/metrics', async (_request, response) => {
    const text = await registry.metrics()
    response.set({ 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' }).send(text)
  })
  router.get('/readyz', async (_request, response) => {
    const ready = await isReady()
    response.set('Cache-Control', 'no-store')
    if (ready) response.type('text').send('ok\n')
    else response.status(503).set('Retry-After', '1').type('text').send('not ready\n')
  })
  return router
}
