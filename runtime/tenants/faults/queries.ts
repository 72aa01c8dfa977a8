import type { Database, Statement } from '../../database/database.ts'
import { readSpace, sandboxOf } from '../../database/space.ts'
import { sweepOldest } from '../../database/sweep.ts'
import { toTimestamp } from '../../database/types.ts'
import type { FaultSetting, Faults } from './faults.ts'

const REPLACES =
  'DO UPDATE SET setting = excluded.setting, created = excluded.created, expires_at = excluded.expires_at'

const PUT: Statement = {
  text: `INSERT INTO control.faults (tenant_id, setting, created, expires_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id) ${REPLACES}`,
}

const PUT_IN_NAMED: Statement = {
  text: `INSERT INTO control.sandbox_faults (tenant_id, setting, created, expires_at, sandbox)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (sandbox) ${REPLACES}`,
}

/** Sets the failures of a sandbox. Call this in a transaction of the owner. */
export async function putFaults(db: Database, space: string, faults: Faults): Promise<void> {
  const { created, expires_at, ...setting } = faults satisfies FaultSetting
  const { tenantId, sandbox } = readSpace(space)
  const values = [tenantId, JSON.stringify(setting), toTimestamp(created), toTimestamp(expires_at)]
  if (sandbox === undefined) await db.query(PUT, values)
  else await db.query(PUT_IN_NAMED, [...values, sandboxOf(space)])
}

const DELETE: Statement = { text: 'DELETE FROM control.faults WHERE tenant_id = $1 AND expires_at > $2' }

const DELETE_IN_NAMED: Statement = {
  text: 'DELETE FROM control.sandbox_faults WHERE tenant_id = $1 AND expires_at > $2 AND sandbox = $3',
}

/**
 * Ends the failures of a sandbox. Call this in a transaction of the owner.
 *
 * @param now service time.
 * @returns whether failures were set.
 */
export async function deleteFaults(db: Database, space: string, now: number): Promise<boolean> {
  const { tenantId, sandbox } = readSpace(space)
  const values = [tenantId, toTimestamp(now)]
  const ended =
    sandbox === undefined
      ? await db.query(DELETE, values)
      : await db.query(DELETE_IN_NAMED, [...values, sandboxOf(space)])
  return ended.count > 0
}

const LIST: Statement = {
  name: 'faults_in_force',
  text: `SELECT sandbox, setting, floor(extract(epoch FROM created) * 1000)::float8 AS created,
                floor(extract(epoch FROM expires_at) * 1000)::float8 AS expires_at
           FROM (SELECT tenant_id AS sandbox, setting, created, expires_at FROM control.faults
                 UNION ALL
                 SELECT sandbox, setting, created, expires_at FROM control.sandbox_faults) AS f
          WHERE expires_at > $1`,
}

interface FaultRow extends Pick<Faults, 'created' | 'expires_at'> {
  readonly sandbox: string
  readonly setting: FaultSetting
}

/** Returns the failures in force, by the first space of the sandbox. @param now service time. */
export async function listFaults(control: Database, now: number): Promise<ReadonlyMap<string, Faults>> {
  const { rows } = await control.query<FaultRow>(LIST, [toTimestamp(now)])
  return new Map(rows.map(({ sandbox, setting, ...times }) => [sandbox, { ...setting, ...times }]))
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
