/** The same behind express-openapi-validator, which checks requests by the newest document. */
import { ensureBuilt } from 'dateline/build'
import { middleware } from 'express-openapi-validator'
import { createPeer, serve } from './by-hand.ts'

await ensureBuilt('dateline.config.json')
serve(
  createPeer((app) => {
    const check = middleware({
      apiSpec: 'generated/2026-05-19/openapi.json',
      validateRequests: true,
      validateResponses: false,
      validateSecurity: false,
      validateApiSpec: false,
    })
    app.use(check)
  }),
)
