/** The authorization code flow for native apps, with PKCE (RFC 8252, RFC 7636, OAuth 2.1 §4.1). */
import { createHash, randomBytes } from 'node:crypto'
import { withoutControls } from '../terminal/colours.ts'
import { SignInError } from '../terminal/failures.ts'
import { type AuthorizationServer, requestTokens } from './authorization-server.ts'
import { awaitCallback } from './loopback.ts'
import type { ProfileTokens } from './profiles.ts'

export interface SignInRequest {
  readonly clientId: string
  readonly scope: string
  /** Shows the sign-in address. */
  readonly show: (address: string) => void
  readonly signal: AbortSignal
}

const random = () => randomBytes(32).toString('base64url')

/**
 * Signs in and returns the tokens.
 * @throws SignInError if the user or the server refuses; the signal's reason after an abort.
 */
export async function authorize(
  server: AuthorizationServer,
  { clientId, scope, show, signal }: SignInRequest,
): Promise<ProfileTokens> {
  const [state, verifier] = [random(), random()]
  const callback = await awaitCallback(state, signal)
  try {
    const address = new URL(server.authorization_endpoint)
    const parameters = {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: callback.redirectUri,
      scope,
      state,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value)
    show(address.href)
    const code = readAnswer(await callback.answer, server)
    const grant = { grant_type: 'authorization_code', client_id: clientId, code }
    const proof = { code_verifier: verifier, redirect_uri: callback.redirectUri }
    return await requestTokens(server.token_endpoint, { ...grant, ...proof }, signal)
  } finally {
    callback.close()
  }
}

function readAnswer(answer: URLSearchParams, { issuer }: AuthorizationServer): string {
  // RFC 9207 §2.4: reject a response from a different issuer.
  if (answer.get('iss') !== issuer) throw new SignInError(`the sign-in response is not from ${issuer}`)
  const code = answer.get('code')
  if (code) return code
  const why = answer.get('error_description') ?? answer.get('error') ?? 'the response contains no code'
  throw new SignInError(`sign-in failed: ${withoutControls(why).slice(0, 300)}`)
}
