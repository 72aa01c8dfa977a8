/** The OAuth authorization server: oidc-provider, without the features that the API does not offer. */
import { generateKeyPairSync, timingSafeEqual } from 'node:crypto'
import Provider, { type Configuration, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider'
import type { Environment } from '../../platform/environment.ts'
import { deriveSecret } from '../../platform/secrets.ts'
import { digestKey } from '../../tenants/keys/keys.ts'
import { includesScope, lowerScopes, OAUTH_SCOPES } from '../../tenants/keys/scopes.ts'
import { makeToken, type TokenKind } from '../../tenants/keys/tokens.ts'
import { type AdapterParts, createAdapter } from './adapter.ts'
import { AUTHORIZE, CONSENT, REVOKE, TOKEN } from './paths.ts'

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Lifetimes in seconds. */
const LIFETIMES = { code: MINUTE, accessToken: HOUR, refreshToken: 30 * DAY, request: 30 * MINUTE }

export interface ProviderParts extends AdapterParts {
  /** Origin of the dashboard, which is the issuer. */
  readonly consoleUrl: string
  /** Shows an error page for an authorization request that cannot be redirected. */
  readonly sendError: (ctx: KoaContextWithOIDC, description: string) => void
}

const off = { enabled: false } as const

function configure(parts: ProviderParts): Configuration {
  const cookie = { httpOnly: true, sameSite: 'lax', signed: true } as const
  return {
    adapter: createAdapter(parts),
    scopes: [...OAUTH_SCOPES],
    claims: {},
    responseTypes: ['code'],
    // No token is signed, but oidc-provider requires a key.
    jwks: {
      keys: [
        {
          ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
          kty: 'EC',
        },
      ],
    },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    routes: { authorization: AUTHORIZE, token: TOKEN, revocation: REVOKE },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: true,
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    revokeGrantPolicy: () => true,
    expiresWithSession: async () => false,
    clientAuthMethods: ['none', 'client_secret_post'],
    extraClientMetadata: { properties: ['environment'] },
    features: {
      devInteractions: off,
      userinfo: off,
      rpInitiatedLogout: off,
      resourceIndicators: off,
      pushedAuthorizationRequests: off,
      dPoP: off,
      claimsParameter: off,
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
    },
    ttl: {
      AuthorizationCode: LIFETIMES.code,
      AccessToken: LIFETIMES.accessToken,
      RefreshToken: LIFETIMES.refreshToken,
      Interaction: LIFETIMES.request,
      Session: LIFETIMES.request,
    },
    cookies: {
      keys: [deriveSecret(parts.pepper, 'cookies of authorization requests')],
      names: {
        interaction: 'svc_authorize',
        resume: 'svc_authorize_resume',
        session: 'svc_authorize_session',
      },
      short: cookie,
      long: cookie,
    },
    interactions: { url: (_ctx, { uid }) => `${CONSENT}/${uid}`, policy: alwaysAsk() },
    loadExistingGrant: (ctx) => {
      const id = ctx.oidc.result?.consent?.grantId
      return id === undefined ? undefined : ctx.oidc.provider.Grant.find(id)
    },
    findAccount: async (_ctx, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    renderError: async (ctx, out) => parts.sendError(ctx, out.error_description ?? out.error),
  }
}

/** Always prompts for consent. The dashboard, not oidc-provider, checks who is signed in. */
function alwaysAsk() {
  const { Prompt, Check } = interactionPolicy
  const asked = new Check('consent_given', 'a member must consent', 'interaction_required', (ctx) =>
    ctx.oidc.result?.consent ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT,
  )
  return [new Prompt({ name: 'consent', requestable: true }, asked)]
}

export function createProvider(parts: ProviderParts): Provider {
  const provider = new Provider(parts.consoleUrl, configure(parts))
  // The host and scheme of a request are set to those of the dashboard before it gets here.
  provider.proxy = true
  nameTokens(provider)
  narrowScopes(provider)
  challengeClients(provider)
  provider.Client.prototype.compareClientSecret = function compare(this: { clientSecret?: string }, sent) {
    const wanted = Buffer.from(this.clientSecret ?? '', 'base64url')
    const digest = digestKey(parts.pepper, sent)
    return wanted.length === digest.length && timingSafeEqual(wanted, digest)
  }
  return provider
}

/**
 * Lets `write` include `read`, and a plain scope the same scope of each family. Oidc-provider compares scopes as
 * words.
 */
function narrowScopes({ Grant, RefreshToken }: Provider): void {
  Grant.prototype.getOIDCScopeFiltered = function filter(asked) {
    return lowerScopes([...asked], this.getOIDCScope().split(' ')).join(' ')
  }
  Object.defineProperty(RefreshToken.prototype, 'scopes', {
    get(this: { scope?: string }) {
      const held = this.scope?.split(' ') ?? []
      const asked = [...(Provider.ctx?.oidc.requestParamScopes ?? [])]
      return new Set([...held, ...asked.filter((scope) => includesScope(held, scope))])
    },
  })
}

/** Adds the challenge that a 401 must have (RFC 9110, section 15.5.2). The library omits it. */
function challengeClients(provider: Provider): void {
  provider.use(async (ctx, next) => {
    await next()
    if (ctx.status === 401) ctx.set('WWW-Authenticate', `Basic realm="${provider.issuer}"`)
  })
}

/** Gives codes and tokens prefixes that show their kind and distinguish them from keys. */
function nameTokens(provider: Provider): void {
  const kinds: readonly [model: { prototype: object }, kind: TokenKind][] = [
    [provider.AccessToken, 'at'],
    [provider.RefreshToken, 'rt'],
    [provider.AuthorizationCode, 'ac'],
  ]
  for (const [model, kind] of kinds) {
    Object.assign(model.prototype, {
      generateTokenId(this: { client: { environment: Environment }; format?: string }) {
        if (kind === 'at') this.format = 'opaque'
        return makeToken(kind, this.client.environment)
      },
    })
  }
}
