import type { Database, Statement } from '../../database/database.ts'
import { sweepOldest } from '../../database/sweep.ts'
import { toTimestamp } from '../../database/types.ts'
import type { FaultSetting, Faults } from './faults.ts'

const PUT: Statement = {
  text: `INSERT INTO control.faults (tenant_id, setting, created, expires_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id) DO UPDATE
            SET setting = excluded.setting, created = excluded.created, expires_at = excluded.expires_at`,
}

/** Sets the failures of a tenant. Call this in a transaction of the owner. */
export async function putFaults(db: Database, tenantId: string, faults: Faults): Promise<void> {
  const { created, expires_at, ...setting } = faults satisfies FaultSetting
  await db.query(PUT, [tenantId, JSON.stringify(setting), toTimestamp(created), toTimestamp(expires_at)])
}

const DELETE: Statement = { text: 'DELETE FROM control.faults WHERE tenant_id = $1 AND expires_at > $2' }

/**
 * Ends the failures of a tenant. Call this in a transaction of the owner.
 *
 * @param now service time.
 * @returns whether failures were set.
 */
export async function deleteFaults(db: Database, tenantId: string, now: number): Promise<boolean> {
  return (await db.query(DELETE, [tenantId, toTimestamp(now)])).count > 0
}

const LIST: Statement = {
  name: 'faults_in_force',
  text: `SELECT tenant_id, setting, floor(extract(epoch FROM created) * 1000)::float8 AS created,
                floor(extract(epoch FROM expires_at) * 1000)::float8 AS expires_at
           FROM control.faults WHERE expires_at > $1`,
}

interface FaultRow extends Pick<Faults, 'created' | 'expires_at'> {
  readonly tenant_id: string
  readonly setting: FaultSetting
}

/** Returns the failures in force, by tenant. @param now service time. */
export async function listFaults(control: Database, now: number): Promise<ReadonlyMap<string, Faults>> {
  const { rows } = await control.query<FaultRow>(LIST, [toTimestamp(now)])
  return new Map(rows.map(({ tenant_id, setting, ...times }) => [tenant_id, { ...setting, ...times }]))
}

const COUNT: Statement = {
  name: 'injected_faults_count',
  text: `INSERT INTO injected_faults AS f (tenant_id, request, count, created) VALUES ($1, $2, 1, $3)
         ON CONFLICT (tenant_id, request) DO UPDATE SET count = f.count + 1 WHERE f.count < $4
         RETURNING count`,
}

/**
 * Counts a failure of a request, unless it has failed often enough.
 *
 * @param now machine time.
 * @returns whether the request must fail.
 */
export async function countFault(
  db: Database,
  space: string,
  request: string,
  attempts: number,
  now: number,
): Promise<boolean> {
  return (await db.query(COUNT, [space, request, toTimestamp(now), attempts])).count > 0
}

const SWEEP = sweepOldest('injected_faults', 'created')

/** Deletes about `limit` of the oldest counts created at or before `createdBy`, of all tenants. Returns the number. */
export async function sweepFaults(db: Database, createdBy: number, limit: number): Promise<number> {
  return (await db.query(SWEEP, [toTimestamp(createdBy), limit])).count
}
