/** The access token of a profile, renewed before it expires. */
import { SignInError } from '../terminal/failures.ts'
import { requestTokens } from './authorization-server.ts'
import { withLock } from './lock.ts'
import type { Profile, Profiles } from './profiles.ts'

/** Renew a token this long before it expires, in milliseconds, so that it stays valid during a request. */
const LEEWAY_MS = 60_000

export interface Bearer {
  /** Returns a token that is valid for at least one more minute. */
  current(): Promise<string>
  /** Returns a new token in place of one that the API reports as expired. */
  renewed(expired: string): Promise<string>
}

/** Opens the token of a profile. Its methods throw `SignInError` if the server no longer renews the sign-in. */
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
 * Renews the tokens. A refresh token is valid once, and using it twice ends the sign-in (OAuth 2.1 §4.3.1). So one process
 * renews it under a lock; other processes wait and read the new tokens.
 */
function refresh(profiles: Profiles, name: string, stale: string): Promise<Profile> {
  return withLock(`${profiles.pathOf(name)}.lock`, async () => {
    const profile = profiles.read(name)
    if (!profile) throw new SignInError(`the profile ${name} is signed out: run svc login`)
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
