/** What a universe needs before its clock starts: a database, settings and the list of sanctions. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSanctions } from '../../runtime/cards/sanctions/list-in-use.ts'
import { ensureCardRole } from '../../runtime/database/migrate/card-role.ts'
import type { Roles } from '../../runtime/database/migrate/roles.ts'
import { clientConfig } from '../../runtime/database/pool/connection.ts'
import { readSettings } from '../../runtime/platform/settings.ts'
import { administer, databaseUrl } from '../support/server.ts'
import { CONFIRMATIONS } from './chain/blocks.ts'
import { CHAIN_ID, NODE_URL, PAYER_KEY, preload, USDC } from './chain/node.ts'
import { addOldPayments } from './chain/old-payments.ts'
import { DEADLOCK_MS, openWatch, type Watch } from './clockwork/watch.ts'
import { registerNewer } from './sanctions.ts'
import type { SimulationServer } from './server.ts'
import type { Installation } from './service.ts'
import { PUSH_URL } from './wallets/devices.ts'

export interface Prepared
  extends Pick<Installation, 'connection' | 'cardSignIn' | 'pepper' | 'roles' | 'settings' | 'sanctions'> {
  readonly watch: Watch
  /** Drops the database and the data directory. */
  remove(): Promise<void>
}

/** @param now milliseconds since the epoch, at which the list of sanctions is registered. */
export async function prepare(
  { url, template, pepper }: SimulationServer,
  seed: string,
  now: number,
): Promise<Prepared> {
  await preload()
  const name = `simulation_${process.pid}_${seed.toLowerCase().replaceAll(/\W/g, '_')}`
  await administer(
    url,
    `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
    `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`,
    `ALTER DATABASE ${name} SET deadlock_timeout = '${DEADLOCK_MS}ms'`,
  )
  const place = databaseUrl(url, name)
  const connection = { connectionString: place }
  const cardSignIn = await ensureCardRole({
    ...{ connection, direct: connection, pepper },
    ...{ ownSecret: undefined, previousSecret: undefined, say: () => {} },
  })
  if (!cardSignIn) throw new Error('the simulation cannot open card numbers')
  const watch = await openWatch(clientConfig(connection, 'simulation watch'))
  const { rows } = await watch.db.query<{ environment: keyof Roles; name: string }>({
    text: 'SELECT environment, name FROM control.roles',
  })
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-simulation-data-'))
  const settings = readSettings({
    SVC_PEPPER: pepper,
    DATABASE_URL: place,
    DATA_DIR: dataDir,
    SVC_VERIFY_SECONDS: '0',
    SVC_CHAIN_RPC_URL: NODE_URL,
    SVC_CHAIN_ID: `${CHAIN_ID}`,
    SVC_CHAIN_CONFIRMATIONS: `${CONFIRMATIONS}`,
    SVC_USDC_ADDRESS: USDC,
    SVC_PAYOUT_KEY: PAYER_KEY,
    APPLE_PUSH_URL: PUSH_URL,
  })
  const sanctions = await openSanctions(watch.db, settings.sanctionsList, () => now)
  await registerNewer(watch.db, sanctions)
  await addOldPayments(watch.db, now)
  return {
    ...{ connection, cardSignIn, pepper, settings, watch, sanctions },
    roles: Object.fromEntries(rows.map((row) => [row.environment, row.name])) as Roles,
    async remove() {
      await watch.end()
      await administer(url, `DROP DATABASE ${name} WITH (FORCE)`)
      rmSync(dataDir, { recursive: true })
    },
  }
}
