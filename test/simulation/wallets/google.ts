/** Google Wallet: classes and objects, and access tokens. It answers like the fake in the runtime, without a server. */
import { createPublicKey } from 'node:crypto'
import {
  createGoogleAnswers,
  type FakeResource,
} from '../../../runtime/passes/wallets/fakes/google-resources.ts'
import { createTokens } from '../../../runtime/passes/wallets/fakes/google-tokens.ts'
import type { GoogleSigner } from '../../../runtime/passes/wallets/render/google/signer.ts'
import type { Peer } from '../network.ts'

export const GOOGLE_ORIGIN = 'https://google.invalid'

export const GOOGLE_URLS = {
  wallet: GOOGLE_ORIGIN,
  token: `${GOOGLE_ORIGIN}/token`,
  keys: `${GOOGLE_ORIGIN}/keys`,
}

/** How long an access token is valid. */
const TOKEN_S = 3599

export interface SimulatedGoogle {
  readonly answer: Peer
  /** Classes and objects by path, for example `loyaltyObject/123.pass_…`. */
  readonly resources: ReadonlyMap<string, FakeResource>
}

export function createGoogle({ issuerId, email, key }: GoogleSigner): SimulatedGoogle {
  const tokens = createTokens(new Map([[email, createPublicKey(key)]]), TOKEN_S)
  const resources = new Map<string, FakeResource>()
  const answers = createGoogleAnswers({ issuerId }, tokens, () => GOOGLE_URLS.token, resources)
  return {
    resources,
    async answer({ method, url, headers, body }) {
      const request = { method, path: new URL(url).pathname, authorization: headers.Authorization, body }
      const { status, body: answer } = await answers(request)
      return { status, body: JSON.stringify(answer) }
    },
  }
}
