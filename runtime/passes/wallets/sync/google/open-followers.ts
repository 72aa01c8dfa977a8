import type { Logger } from 'pino'
import type { OpenDatabase } from '../../../../database/open/open-database.ts'
import type { WakeUps } from '../../../../events/emit/wake-ups.ts'
import type { PeerOutbound } from '../../../../events/outbound/outbound.ts'
import { ENVIRONMENTS, type Environment } from '../../../../platform/environment.ts'
import type { Clock } from '../../../../tenants/clock/clock.ts'
import type { TenantNames } from '../../../../tenants/keys/tenant-names.ts'
import type { Tracer } from '../../../../tracing/span.ts'
import { createLeaseClock } from '../../../../work/lease-clock.ts'
import { createSetAside } from '../../../../work/set-aside.ts'
import type { GoogleSigner } from '../../render/google/signer.ts'
import type { PassTokens } from '../../render/pass-tokens.ts'
import { createAccessTokens } from './access-tokens.ts'
import { createGoogleClient } from './client.ts'
import { createFollower, type Follower } from './follower.ts'
import { createPace } from './pace.ts'
import { createSync } from './sync.ts'

export interface FollowersParts {
  readonly database: Pick<OpenDatabase, Environment | 'control'>
  readonly clock: Clock
  readonly log: Logger
  readonly tracer?: Tracer | undefined
  readonly baseUrls: Readonly<Record<Environment, string>>
  readonly wakeUps: WakeUps
  readonly passTokens: Readonly<Record<Environment, PassTokens>>
  readonly tenantNames: TenantNames
  readonly google: {
    readonly signer: GoogleSigner
    readonly outbound: PeerOutbound
    readonly urls: { readonly wallet: string; readonly token: string }
  }
}

export interface Followers {
  readonly google: Readonly<Record<Environment, Pick<Follower, 'stats'>>>
  stop(): Promise<void>
}

/** Requests per second that Google allows an issuer by default (Google Wallet, "Rate limits"). */
const PER_SECOND = 20

/** Opens a follower for each environment. Both share the issuer account, its access token and its quota. */
export function openFollowers(parts: FollowersParts): Followers {
  const { database, clock, log, tracer, baseUrls, wakeUps, passTokens, tenantNames, google } = parts
  const { signer, outbound, urls } = google
  const tokens = createAccessTokens({ signer, tokenUrl: urls.token, outbound, now: clock.machine })
  const client = createGoogleClient({
    walletUrl: urls.wallet,
    tokens,
    outbound,
    pace: createPace(PER_SECOND),
  })
  const open = (environment: Environment): Follower => {
    const pool = database[environment]
    const baseUrl = baseUrls[environment]
    const sync = createSync({
      db: pool,
      client,
      issuer: { issuerId: signer.issuerId, baseUrl },
      sources: { baseUrl, passTokens: passTokens[environment], tenantNames },
      now: () => clock.service(environment),
    })
    const leaseClock = createLeaseClock(pool, clock.machine)
    const setAside = createSetAside({ control: database.control, clock, log }, 'google_wallet', environment)
    return createFollower({ environment, pool, sync, setAside, leaseClock, log, tracer })
  }
  const followers = { sandbox: open('sandbox'), live: open('live') }
  const subscriptions = ENVIRONMENTS.map((environment) =>
    wakeUps.subscribe(environment, followers[environment].wake),
  )
  return {
    google: followers,
    stop: async () => {
      for (const unsubscribe of subscriptions) unsubscribe()
      await Promise.all(ENVIRONMENTS.map((environment) => followers[environment].stop()))
    },
  }
}
