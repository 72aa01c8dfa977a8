/** The API, a stand-in for Google Wallet, and followers between them, on a database of their own. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { pino } from 'pino'
import { current } from '../../../generated/versions.ts'
import { readSpace } from '../../../runtime/database/space.ts'
import { createOutbound } from '../../../runtime/events/outbound/outbound.ts'
import {
  type GoogleStandIn,
  startGoogleStandIn,
} from '../../../runtime/passes/wallets/fakes/google-wallet.ts'
import { GOOGLE_KINDS } from '../../../runtime/passes/wallets/render/google/kinds.ts'
import type { GoogleSigner } from '../../../runtime/passes/wallets/render/google/signer.ts'
import type { PassKind } from '../../../runtime/passes/wallets/render/pass-state.ts'
import { openPassTokens } from '../../../runtime/passes/wallets/render/pass-tokens.ts'
import { createAccessTokens } from '../../../runtime/passes/wallets/sync/google/access-tokens.ts'
import { createGoogleClient } from '../../../runtime/passes/wallets/sync/google/client.ts'
import {
  createFollower,
  type Follower,
  type FollowerOptions,
} from '../../../runtime/passes/wallets/sync/google/follower.ts'
import { createPace } from '../../../runtime/passes/wallets/sync/google/pace.ts'
import { createSync } from '../../../runtime/passes/wallets/sync/google/sync.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { createTenantNames } from '../../../runtime/tenants/keys/tenant-names.ts'
import { createSetAside } from '../../../runtime/work/set-aside.ts'
import {
  makeKey,
  makeTenant,
  type Send,
  speak,
  startTestService,
  type TestService,
} from '../../support/service.ts'

export const ISSUER_ID = '3388000000000000042'

export interface GoogleStage {
  readonly service: TestService
  readonly google: GoogleStandIn
  readonly signer: GoogleSigner
  /** Another node that follows the sandbox. */
  follow(options?: Partial<FollowerOptions>): Follower
  /** A tenant with a key of the sandbox. */
  /** @param pin the version of its events. */
  addTenant(pin?: string): Promise<{ readonly tenantId: string; readonly send: Send }>
  /** Google's class or object of a template or pass. */
  at(kind: PassKind, id: string): Readonly<Record<string, unknown>> | undefined
  cursor(space: string): Promise<Cursor | undefined>
  close(): Promise<void>
}

export interface Cursor {
  readonly sequence: number
  readonly walks: readonly unknown[]
  readonly failures: number
  readonly token: string | null
}

export function makeSigner(): GoogleSigner {
  const { privateKey: key } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { issuerId: ISSUER_ID, email: 'wallet@shop.example', key }
}

export async function openGoogleStage(): Promise<GoogleStage> {
  const service = await startTestService({ guarded: false })
  const signer = makeSigner()
  const accounts = new Map([[signer.email, createPublicKey(signer.key)]])
  const google = await startGoogleStandIn({ issuerId: ISSUER_ID, accounts })
  const outbound = createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.0/8']) })
  const followers: Follower[] = []
  const { database, clock, urls } = service
  const pool = database.sandbox
  const log = pino({ level: process.env.LOG_LEVEL ?? 'silent' })
  return {
    service,
    google,
    signer,
    follow(options = {}) {
      const tokens = createAccessTokens({ signer, tokenUrl: google.urls.token, outbound, now: Date.now })
      const client = createGoogleClient({
        walletUrl: google.urls.wallet,
        tokens,
        outbound,
        pace: createPace(2000),
      })
      const sync = createSync({
        db: pool,
        client,
        issuer: { issuerId: ISSUER_ID, baseUrl: urls.sandbox },
        sources: {
          baseUrl: urls.sandbox,
          passTokens: openPassTokens(database.pepper).sandbox,
          tenantNames: createTenantNames(database.control),
        },
        now: () => clock.now,
      })
      const leaseClock = { now: Date.now, refresh: async () => {} }
      const follower = createFollower({
        environment: 'sandbox',
        pool,
        sync,
        setAside: createSetAside({ control: database.control, clock, log }, 'google_wallet', 'sandbox'),
        leaseClock,
        log,
        pollMs: 20,
        ...options,
      })
      followers.push(follower)
      return follower
    },
    async addTenant(pin) {
      const tenantId = await makeTenant(service, 'enterprise', pin)
      const { secret } = await makeKey(service, tenantId, { scope: 'admin' })
      return { tenantId, send: speak(service.urls.sandbox, { secret, version: current }) }
    },
    at(kind, id) {
      const { classes, objects } = GOOGLE_KINDS[kind]
      return google.resource(`${id.startsWith('tpl_') ? classes : objects}/${ISSUER_ID}.${id}`)
    },
    async cursor(space) {
      const text = 'SELECT sequence, walks, failures, token FROM google_cursors WHERE tenant_id = $1'
      return (await pool.query<Cursor>({ text }, [space])).rows[0]
    },
    async close() {
      await Promise.all(followers.map((follower) => follower.stop()))
      outbound.close()
      await google.close()
      await service.stop()
    },
  }
}

/** Whose space it is, for tests that look into tables. */
export const tenantOf = (space: string): string => readSpace(space).tenantId
