/** The access token of a profile, exchanged for a new one when it is due. */
import { SignInError } from '../terminal/failures.ts'
import { requestTokens } from './authorization-server.ts'
import { withLock } from './lock.ts'
import type { Profile, Profiles } from './profiles.ts'

/** A token is exchanged for so long before it expires, in milliseconds: a request takes its time. */
const LEEWAY_MS = 60_000

export interface Bearer {
  /** A token that is valid for a minute more, at least. */
  current(): Promise<string>
  /** Another token than the one that the service calls expired. */
  renewed(expired: string): Promise<string>
}

/** @throws SignInError, of what it returns, when the service does not refresh any more. */
export function openBearer(profiles: Profiles, name: string, first: Profile): Bearer {
  let profile = first
  let refreshing: Promise<Profile> | undefined
  const renew = async (stale: string): Promise<string> => {
    refreshing ??= refresh(profiles, name, stale).finally(() => {
      refreshing = undefined
    })
    profile = await refreshing
    return profile.access_token
  }
  return {
    current: async () => (isDue(profile) ? renew(profile.access_token) : profile.access_token),
    renewed: async (expired) => (profile.access_token === expired ? renew(expired) : profile.access_token),
  }
}

const isDue = ({ expires_at }: Profile) => Date.parse(expires_at) - Date.now() < LEEWAY_MS

/**
 * A refresh token counts once, and using it twice ends the sign-in (OAuth 2.1 §4.3.1). Of several processes one exchanges it; the
 * others wait, and find what it has got.
 */
function refresh(profiles: Profiles, name: string, stale: string): Promise<Profile> {
  return withLock(`${profiles.pathOf(name)}.lock`, async () => {
    const profile = profiles.read(name)
    if (!profile) throw new SignInError(`the profile ${name} has signed out: run svc login`)
    if (profile.access_token !== stale && !isDue(profile)) return profile
    const { client_id, refresh_token, token_endpoint, scope } = profile
    const tokens = await requestTokens(token_endpoint, {
      grant_type: 'refresh_token',
      client_id,
      refresh_token,
    })
    const renewed = { ...profile, ...tokens, scope: tokens.scope || scope }
    profiles.write(name, renewed)
    return renewed
  })
}
