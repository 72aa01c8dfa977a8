import type { VersionExtensions } from '../../../generated/extensions.ts'
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import { ControlError, change, isoTime, type Operator } from './change.ts'
import { requireTenant } from './tenants.ts'

const SET_PIN: Statement = {
  text: `INSERT INTO control.pins (tenant_id, environment, version, pinned_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, environment)
         DO UPDATE SET version = excluded.version, pinned_at = excluded.pinned_at`,
}

const READ_PIN: Statement = {
  name: 'pins_read',
  text: 'SELECT version FROM control.pins WHERE tenant_id = $1 AND environment = $2',
}

/** Returns the version that a tenant is pinned to in an environment; null if there is no pin. */
export async function readPin(
  control: Database,
  tenantId: string,
  environment: Environment,
): Promise<string | null> {
  const { rows } = await control.query<{ version: string }>(READ_PIN, [tenantId, environment])
  return rows[0]?.version ?? null
}

const READ_PINNED: Statement = {
  text: 'SELECT version, pinned_at FROM control.pins WHERE tenant_id = $1 AND environment = $2',
}

export interface Pinned {
  readonly version: string
  /** Milliseconds since the epoch, service time. */
  readonly pinned_at: number
}

/** Returns the pin with the time at which it was set. */
export async function readPinned(
  control: Database,
  tenantId: string,
  environment: Environment,
): Promise<Pinned | undefined> {
  return (await control.query<Pinned>(READ_PINNED, [tenantId, environment])).rows[0]
}

/** Time that the sandbox should use a version before live is pinned to it. */
export const SOAK_MS = 48 * 3_600_000

/**
 * Returns how long, in milliseconds, the sandbox has used a version, if that is less than 48 hours and live would be
 * upgraded to it. Returns undefined otherwise. A downgrade needs no soak.
 */
export async function missingSoak(
  { control, clock }: Pick<Operator, 'control' | 'clock'>,
  tenantId: string,
  version: string,
): Promise<number | undefined> {
  const [sandbox, live] = await Promise.all([
    readPinned(control, tenantId, 'sandbox'),
    readPinned(control, tenantId, 'live'),
  ])
  if (live && version <= live.version) return undefined
  const soaked = sandbox?.version === version ? clock.service('sandbox') - sandbox.pinned_at : 0
  return soaked < SOAK_MS ? soaked : undefined
}

export interface PinInput {
  readonly tenantId: string
  readonly environment: Environment
  readonly version: string
}

/**
 * Pins a tenant's environment to a version. Requests in progress finish in the version in which they started.
 *
 * @param versions all versions.
 * @throws ControlError `invalid` for an unknown version; `refused` for a version past its sunset.
 */
export async function setPin(
  operator: Operator,
  input: PinInput,
  versions: readonly ({ readonly name: string } & Pick<VersionExtensions, 'sunset'>)[],
): Promise<{ tenant_id: string; environment: Environment; version: string; pinned_at: string }> {
  const { tenantId, environment } = input
  const now = operator.clock.service(environment)
  const version = versions.find(({ name }) => name === input.version)
  if (!version) {
    const known = versions.map(({ name }) => name).join(', ')
    throw new ControlError('invalid', `there is no version ${input.version}: expected one of ${known}`)
  }
  if (version.sunset !== undefined && Date.parse(version.sunset) <= now) {
    throw new ControlError(
      'refused',
      `version ${version.name} is past its sunset (${version.sunset}): pin a newer version`,
    )
  }
  return change(operator, async (tx, note) => {
    const tenant = await requireTenant(tx, tenantId)
    await tx.query(SET_PIN, [tenant.id, environment, version.name, toTimestamp(now)])
    note({ tenantId: tenant.id, environment, action: 'pin.set', targetId: tenant.id })
    return { tenant_id: tenant.id, environment, version: version.name, pinned_at: isoTime(now) }
  })
}
