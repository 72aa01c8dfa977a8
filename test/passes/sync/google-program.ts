/** A follower in a process of its own, on a database and a stand-in that others made. Tests kill it. */
import { createPrivateKey } from 'node:crypto'
import { pino } from 'pino'
import { openDatabase } from '../../../runtime/database/open/open-database.ts'
import { createOutbound } from '../../../runtime/events/outbound/outbound.ts'
import { openPassTokens } from '../../../runtime/passes/wallets/render/pass-tokens.ts'
import { createAccessTokens } from '../../../runtime/passes/wallets/sync/google/access-tokens.ts'
import { createGoogleClient } from '../../../runtime/passes/wallets/sync/google/client.ts'
import { createFollower } from '../../../runtime/passes/wallets/sync/google/follower.ts'
import { createPace } from '../../../runtime/passes/wallets/sync/google/pace.ts'
import { createSync } from '../../../runtime/passes/wallets/sync/google/sync.ts'
import { parseNetworks } from '../../../runtime/platform/networks.ts'
import { createTenantNames } from '../../../runtime/tenants/keys/tenant-names.ts'
import { createSetAside } from '../../../runtime/work/set-aside.ts'

const {
  DATABASE_URL = '',
  SVC_PEPPER = '',
  GOOGLE = '{}',
  LEASE_MS = '1500',
  SERVICE_NOW = '0',
} = process.env
const { issuerId, email, key, wallet, token, baseUrl } = JSON.parse(GOOGLE)

const database = await openDatabase({
  databaseUrl: DATABASE_URL,
  pepper: SVC_PEPPER,
  dataDir: '/nowhere',
  poolSize: 4,
  preparedStatements: true,
})
const outbound = createOutbound({ allowPlainHttp: true, allow: parseNetworks(['127.0.0.0/8']) })
const signer = { email, key: createPrivateKey(key) }
const tokens = createAccessTokens({ signer, tokenUrl: token, outbound, now: Date.now })
const client = createGoogleClient({ walletUrl: wallet, tokens, outbound, pace: createPace(2000) })
const sync = createSync({
  db: database.sandbox,
  client,
  issuer: { issuerId, baseUrl },
  sources: {
    baseUrl,
    passTokens: openPassTokens(SVC_PEPPER).sandbox,
    tenantNames: createTenantNames(database.control),
  },
  now: () => Number(SERVICE_NOW),
})
const log = pino({ level: 'warn' }, pino.destination(2))
createFollower({
  environment: 'sandbox',
  pool: database.sandbox,
  sync,
  setAside: createSetAside(
    { control: database.control, clock: { machine: Date.now }, log },
    'google_wallet',
    'sandbox',
  ),
  leaseClock: { now: Date.now, refresh: async () => {} },
  log,
  leaseMs: Number(LEASE_MS),
  pollMs: 20,
})
process.stdout.write('{"ready":true}\n')
