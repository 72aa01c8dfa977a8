import type { Environment } from '../../runtime/platform/environment.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { digestKey } from '../../runtime/tenants/keys/keys.ts'
import { makeToken } from '../../runtime/tenants/keys/tokens.ts'

/** Database and pepper with which the token is stored. */
interface Deployment {
  readonly control: { query(statement: { readonly text: string }, values: unknown[]): Promise<unknown> }
  readonly pepper: string
}

/**
 * Issues an access token, as if the member had authorized the command line.
 *
 * @param expiresAt machine time.
 * @returns the ID of the grant, and the token.
 */
export async function issueToken(
  { control, pepper }: Deployment,
  { tenantId, memberId }: { readonly tenantId: string; readonly memberId: string },
  environment: Environment,
  expiresAt = Date.now() + 3_600_000,
  scope = 'read',
): Promise<{ readonly id: string; readonly secret: string }> {
  const id = newId('tok')
  const secret = makeToken('at', environment)
  const client = environment === 'live' ? 'svc-cli-live' : 'svc-cli'
  const digest = digestKey(pepper, secret)
  const text = `WITH granted AS (
      INSERT INTO control.oauth_grants (tenant_id, id, member_id, client_id, environment, scopes, created)
      VALUES ($1, $2, $3, $4, $5, ARRAY[$8::text], now()))
    INSERT INTO control.oauth_artefacts (digest, model, grant_id, scopes, sealed, expires_at)
    VALUES ($6, 'AccessToken', $2, ARRAY[$8::text], '', $7)`
  const values = [tenantId, id, memberId, client, environment, digest, new Date(expiresAt), scope]
  await control.query({ text }, values)
  return { id, secret }
}
