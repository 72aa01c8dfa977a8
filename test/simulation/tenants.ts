/** The tenants of a universe, each with its merchant. */
import { current, versions } from '../../generated/versions.ts'
import type { OpenDatabase } from '../../runtime/database/open/open-database.ts'
import { post } from '../../runtime/money/ledger/post.ts'
import { newId } from '../../runtime/platform/ids.ts'
import type { Operator } from '../../runtime/tenants/admin/change.ts'
import { createKey } from '../../runtime/tenants/admin/keys.ts'
import { liftLimit } from '../../runtime/tenants/admin/limits.ts'
import { setPin } from '../../runtime/tenants/admin/pins.ts'
import { createTenant, verifyTenant } from '../../runtime/tenants/admin/tenants.ts'
import { createClock } from '../../runtime/tenants/clock/clock.ts'
import { addressOf } from './chain/node.ts'
import { type ClientParts, type Credential, createClient } from './client.ts'
import { ENDPOINT_KINDS } from './endpoints.ts'
import { createFollower } from './follower.ts'
import type { Merchant } from './merchant.ts'
import { DOOMED } from './sanctions.ts'
import type { World } from './world.ts'

/** Cents that are payable in each environment from the start. */
const PAYABLE = 100_000

/** Webhooks of the sandbox in a second: an operator has lowered their limit. */
export const SANDBOX_RATE = 10

/** Every other tenant gets its events in this version. */
const OLDER = '2026-02-01'

const NOTHING = { payable: 0, held: 0, available: 0 }

export const nameOf = (index: number) => `m${index + 1}`

/** Who administers the installation. */
export const operatorOf = ({ control, pepper }: OpenDatabase): Operator => ({
  ...{ control, pepper, clock: createClock() },
})

/** Creates a tenant with keys and money, and the merchant who has them. */
export async function makeMerchant(
  database: OpenDatabase,
  parts: ClientParts,
  { devices, wallets }: Pick<World, 'devices' | 'wallets'>,
  index: number,
  isExact: boolean,
): Promise<Merchant> {
  const operator = operatorOf(database)
  const name = nameOf(index)
  const { id: tenantId } = await createTenant(operator, { name, plan: 'enterprise' }, current)
  await verifyTenant(operator, tenantId)
  const version = index % 2 === 0 ? current : OLDER
  for (const environment of ['sandbox', 'live'] as const)
    await setPin(operator, { tenantId, environment, version }, versions)
  await liftLimit(operator, {
    ...{ tenantId, environment: 'sandbox', bucket: 'webhooks_outbound' },
    ...{ factor: SANDBOX_RATE / 100, hours: 31 * 24 },
  })
  const credentialOf = async (environment: Credential['environment']): Promise<Credential> => {
    const { secret } = await createKey(operator, { tenantId, environment, scope: 'admin' })
    return { name, environment, secret, version: current }
  }
  const [live, sandbox] = [await credentialOf('live'), await credentialOf('sandbox')]
  const older = (credential: Credential) => createClient(parts, { ...credential, version: OLDER })
  const openStream = (after?: string) => createFollower(parts, sandbox, after)
  const transfer = { from: 'network_clearing', to: 'settlement_payable', amount: PAYABLE } as const
  for (const environment of ['sandbox', 'live'] as const)
    await database[environment].transaction((db) =>
      post(db, tenantId, newId('stl'), { transfer }, Date.now()),
    )
  return {
    ...{ name, tenantId, payable: PAYABLE, funded: 0 },
    ...{
      payouts: new Map(),
      transfers: new Map(),
      passes: [],
      transactions: [],
      shown: [],
      shownPayouts: [],
    },
    devices: [devices.device(`phone-${name}`), devices.device(`watch-${name}`)],
    files: new Map(),
    ...{
      isExact,
      isCurrent: version === current,
      shortfall: 0,
      aheadSeconds: 0,
      cards: new Map(),
    },
    ...{
      secrets: new Map(),
      pauses: new Set(),
      rotated: new Map(),
      byHand: [],
      skipped: new Set(),
      disturbed: new Map(),
      changes: [],
      keys: [],
      oldKey: crypto.randomUUID(),
    },
    ...{
      advances: [],
      failures: [],
      destinations: new Map(),
      rejected: new Set(),
      readNewerList: () => wallets.read(),
    },
    addresses: new Set([name, `${name}${DOOMED}`, `${name} moved`, `${name} misspelt`].map(addressOf)),
    defaults: { live: [], sandbox: [] },
    money: undefined,
    ...{ sandboxes: 0, threshold: undefined },
    open: (secret) => createClient(parts, { name, environment: 'sandbox', secret, version: current }),
    lists: { events: [], paid: [], payable: [], funds: [] },
    ...{ openStream, streams: [openStream()] },
    live: createClient(parts, live),
    sandbox: createClient(parts, sandbox),
    older: { live: older(live), sandbox: older(sandbox) },
    known: { template: '', bank: '', usdc: '', card: '', doomed: '', spare: '', moved: '', misspelt: '' },
    hosts: Object.fromEntries(
      ENDPOINT_KINDS.map((kind) => [kind, `${kind}.${name}.invalid`]),
    ) as Merchant['hosts'],
    ...{ endpoints: new Map(), hooksRead: undefined, wait: parts.scheduler.sleep },
    balances: { live: NOTHING, sandbox: NOTHING },
  }
}
