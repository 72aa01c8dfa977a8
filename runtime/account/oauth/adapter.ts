/**
 * Storage for oidc-provider in the control schema. Artifacts are found by the digest of their text, and sealed under
 * it.
 */
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import type { Pool } from '../../database/pool/pool.ts'
import { createSeals } from '../../platform/secrets.ts'
import { digestKey } from '../../tenants/keys/keys.ts'
import { includesScope, lowerScopes, OAUTH_SCOPES, SCOPE_OF_ROLE } from '../../tenants/keys/scopes.ts'
import type { Authorizations } from './authorizations.ts'
import {
  consumeArtefact,
  deleteArtefact,
  findArtefact,
  findClient,
  type OauthClientRow,
  saveArtefact,
} from './queries.ts'

export interface AdapterParts {
  readonly control: Pool
  readonly pepper: string
  readonly authorizations: Authorizations
}

/** Encodes tenant and member as the account ID of oidc-provider, which must be a single string. */
export const accountIdOf = (tenantId: string, memberId: string): string => `${tenantId}/${memberId}`

const NOTHING: Adapter = {
  upsert: async () => undefined,
  find: async () => undefined,
  findByUserCode: async () => undefined,
  findByUid: async () => undefined,
  consume: async () => undefined,
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
}

/** @returns a function that creates the adapter of a model. */
export function createAdapter(parts: AdapterParts): (model: string) => Adapter {
  return (model) => {
    if (model === 'Client') return { ...NOTHING, find: (id) => readClient(parts, id) }
    if (model === 'Grant') return grantAdapter(parts)
    // The dashboard handles sign-in. Every authorization request asks it again, so there are no sessions here.
    if (model === 'Session') return NOTHING
    return artefactAdapter(parts, model)
  }
}

function grantAdapter({ authorizations }: AdapterParts): Adapter {
  return {
    ...NOTHING,
    async find(id) {
      const grant = await authorizations.find(id)
      if (!grant) return undefined
      return {
        kind: 'Grant',
        jti: grant.id,
        accountId: accountIdOf(grant.tenant_id, grant.member_id),
        clientId: grant.client_id,
        openid: { scope: lowerScopes(grant.scopes, [SCOPE_OF_ROLE[grant.role]]).join(' ') },
      }
    },
    async destroy(id) {
      await authorizations.revoke(id, { actorType: 'token', actorId: id, ip: null })
    },
  }
}

/** Stores codes and tokens. All of them end with their authorization, so `revokeByGrantId` has nothing to do. */
function artefactAdapter({ control, pepper, authorizations }: AdapterParts, model: string): Adapter {
  const seals = createSeals(pepper)
  const contextOf = (digest: Buffer) => `oauth_artefacts.sealed ${digest.toString('hex')}`
  const read = async (id: string): Promise<AdapterPayload | undefined> => {
    const digest = digestKey(pepper, id)
    const row = await findArtefact(control, digest, model)
    if (!row) return undefined
    const payload = JSON.parse(seals.unseal(row.sealed, contextOf(digest))) as AdapterPayload
    if (payload.grantId !== undefined && !(await authorizations.find(payload.grantId))) return undefined
    return {
      ...payload,
      jti: id,
      exp: Math.floor(row.expires_at / 1000),
      ...(row.consumed_at !== null && { consumed: Math.floor(row.consumed_at / 1000) }),
    }
  }
  return {
    ...NOTHING,
    async upsert(id, { jti: _jti, exp: _exp, ...payload }, expiresIn) {
      const digest = digestKey(pepper, id)
      await saveArtefact(control, {
        digest,
        model,
        grantId: payload.grantId ?? null,
        scopes: model === 'AccessToken' ? (payload.scope ?? '').split(' ') : [],
        sealed: seals.seal(JSON.stringify(payload), contextOf(digest)),
        expiresAt: Date.now() + (expiresIn ?? 0) * 1000,
      })
    },
    find: read,
    async consume(id) {
      if (await consumeArtefact(control, digestKey(pepper, id), Date.now())) return
      // A code or token was used twice, possibly by a thief. Revoke the whole authorization (OAuth 2.1, section
      // 4.3.1).
      const grantId = (await read(id))?.grantId
      if (grantId !== undefined) {
        await authorizations.revoke(grantId, { actorType: 'token', actorId: grantId, ip: null })
      }
      throw new errors.InvalidGrant('it has already been used')
    },
    destroy: async (id) => void (await deleteArtefact(control, digestKey(pepper, id), model)),
  }
}

/**
 * Form of client IDs (`createOauthClient`). Other texts are not looked up, because PostgreSQL rejects NUL characters.
 */
const CLIENT_ID = /^[\w-]{1,100}$/

async function readClient({ control }: AdapterParts, id: string): Promise<AdapterPayload | undefined> {
  if (!CLIENT_ID.test(id)) return undefined
  const client = await findClient(control, id)
  return client && describeClient(client)
}

/** Describes a client to oidc-provider. The secret is given as its digest, which `compareClientSecret` expects. */
export function describeClient(client: OauthClientRow): AdapterPayload {
  const isPublic = client.secret_digest === null
  const isNative = client.redirect_uris.some((uri) =>
    /^(?!https?:)|^http:\/\/(127\.|\[::1\]|localhost)/.test(uri),
  )
  return {
    client_id: client.id,
    client_name: client.name,
    // The loopback address of a native app may have any port (RFC 8252, section 7.3).
    application_type: isPublic && isNative ? 'native' : 'web',
    redirect_uris: [...client.redirect_uris],
    // A client may request fewer scopes than it is registered with.
    scope: OAUTH_SCOPES.filter((scope) => includesScope(client.scopes, scope)).join(' '),
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    environment: client.environment,
    ...(client.secret_digest === null
      ? { token_endpoint_auth_method: 'none' }
      : {
          token_endpoint_auth_method: 'client_secret_post',
          client_secret: client.secret_digest.toString('base64url'),
        }),
  }
}
