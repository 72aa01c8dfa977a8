/** Checks facts that the processes of a deployment share: notifications and addresses. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import pg from 'pg'
import { explainFailure, POLLING, placeOf } from '../../database/open/open-database.ts'
import { clientConfig, isPooled } from '../../database/pool/connection.ts'
import type { Settings } from '../../platform/settings.ts'
import { LISTENERS, missingAddresses, VARIABLES } from '../../tenants/addresses/base-urls.ts'
import { addressesOf, SELECT_ADDRESSES } from '../../tenants/addresses/queries.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

/** Time limit for a notification between two connections. */
const NOTIFY_TIMEOUT_MS = 3000

/** Checks whether a notification from the service's connection reaches the listening connection. */
export async function checkWakeUps(
  client: pg.Client,
  { databaseUrl, databaseListenUrl }: Pick<Settings, 'databaseUrl' | 'databaseListenUrl'>,
): Promise<Finding> {
  if (databaseListenUrl === undefined) {
    return (await isPooled(client))
      ? warn('wake-ups', POLLING)
      : ok('wake-ups', 'notifications arrive: the connection has no pooler')
  }
  const listener = new pg.Client(clientConfig({ connectionString: databaseListenUrl }, 'svc doctor'))
  listener.on('error', () => {}) // the running statement fails
  try {
    await listener.connect()
    const channel = `doctor_${randomUUID()}`
    await listener.query(`LISTEN ${listener.escapeIdentifier(channel)}`)
    const arrived = once(listener, 'notification', { signal: AbortSignal.timeout(NOTIFY_TIMEOUT_MS) })
    await Promise.all([arrived, client.query('SELECT pg_notify($1, $2)', [channel, ''])])
    return ok('wake-ups', `notifications arrive at ${placeOf(databaseListenUrl)}`)
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') {
      return fail(
        'wake-ups',
        'a notification sent through DATABASE_URL did not arrive through DATABASE_LISTEN_URL: check that both name the same database and that DATABASE_LISTEN_URL bypasses the pooler',
      )
    }
    const urls = { databaseListenUrl, ...(databaseUrl !== undefined && { databaseUrl }) }
    return fail('wake-ups', explainFailure(error, urls))
  } finally {
    await listener.end()
  }
}

/** Checks whether this process knows the public addresses of all listeners. */
export async function checkAddresses(
  client: pg.Client,
  { roles, baseUrls }: Pick<Settings, 'roles' | 'baseUrls'>,
): Promise<Finding> {
  const { rows: found } = await client.query<{ made: boolean }>(
    `SELECT to_regclass('control.addresses') IS NOT NULL AS made`,
  )
  const { rows } = found[0]?.made ? await client.query(SELECT_ADDRESSES) : { rows: [] }
  const kept = addressesOf(rows)
  const missing = missingAddresses(roles, baseUrls, kept)
  if (missing.length > 0) {
    return fail(
      'addresses',
      `missing: set ${missing.map((name) => VARIABLES[name]).join(', ')} and start the service once`,
    )
  }
  const words = LISTENERS.map(
    (name) => `${name} ${baseUrls[name] ?? kept[name]?.base_url ?? 'at the address it listens on'}`,
  )
  return ok('addresses', words.join(', '))
}
