/** OAuth 2.1 on the console's origin: the metadata and all routes below `/oauth/`. */
import express, { type Router } from 'express'
import { AUTHORIZE, REVOKE, TOKEN } from '../../account/oauth/paths.ts'
import { OAUTH_SCOPES } from '../../tenants/keys/scopes.ts'
import type { AuthorizationParts } from './routes.ts'

const METADATA = '/.well-known/oauth-authorization-server'

/** Returns the routes. Mount them at the console root, before the catch-all handler. */
export function createAuthorization(parts: AuthorizationParts): Router {
  const router = express.Router({ caseSensitive: true, strict: true })
  const metadata = describe(parts.consoleUrl)
  router.get(METADATA, (_request, response) => void response.set('Cache-Control', 'no-cache').json(metadata))
  // These routes import a fifth of all modules of a process, so they are loaded on first use.
  let routes: Promise<Router> | undefined
  router.use((request, response, next) => {
    if (!request.path.startsWith('/oauth/')) return next()
    routes ??= import('./routes.ts').then((loaded) => loaded.createAuthorizationRoutes(parts))
    routes.then((answer) => answer(request, response, next), next)
  })
  return router
}

/** Returns the authorization server metadata (RFC 8414). */
function describe(issuer: string): object {
  const methods = ['none', 'client_secret_basic', 'client_secret_post']
  return {
    issuer,
    authorization_endpoint: issuer + AUTHORIZE,
    token_endpoint: issuer + TOKEN,
    revocation_endpoint: issuer + REVOKE,
    scopes_supported: OAUTH_SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_methods_supported: methods,
    authorization_response_iss_parameter_supported: true,
  }
}
