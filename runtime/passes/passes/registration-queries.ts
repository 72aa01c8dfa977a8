/** Queries for registrations: which Apple devices have which passes. */
import type { Database, RowResult, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'

export interface Registration {
  readonly deviceId: string
  readonly passId: string
  readonly templateId: string
  /** The address of the device at Apple's push service. */
  readonly pushToken: string
  /** The number of the last change announced to the device; 0 if none. */
  readonly changed: number
  /** Machine time in milliseconds since the epoch. */
  readonly registeredAt: number
}

const IS_WIPED: Statement = {
  name: 'wiped_spaces_read',
  text: 'SELECT FROM wiped_spaces w WHERE w.tenant_id = $1',
}

/** Returns whether the space was wiped. Some of its rows may still exist. */
export async function isRetired(db: Database, space: string): Promise<boolean> {
  return (await db.query(IS_WIPED, [space])).count > 0
}

const READ: Statement = {
  name: 'apple_registrations_read',
  text: `SELECT r.push_token, r.changed FROM apple_registrations r
          WHERE r.tenant_id = $1 AND r.device_id = $2 AND r.pass_id = $3`,
}

export async function readRegistration(
  db: Database,
  space: string,
  deviceId: string,
  passId: string,
): Promise<{ readonly push_token: string; readonly changed: number } | undefined> {
  const values = [space, deviceId, passId]
  return (await db.query<{ push_token: string; changed: number }>(READ, values)).rows[0]
}

const WRITE: Statement = {
  name: 'apple_registrations_write',
  text: `INSERT INTO apple_registrations AS r (tenant_id, device_id, pass_id, template_id, push_token, changed, registered_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (tenant_id, device_id, pass_id) DO UPDATE
         SET push_token = excluded.push_token, registered_at = excluded.registered_at,
             changed = greatest(r.changed, excluded.changed)`,
}

/** Inserts a registration, or updates the push token of an existing one. */
export function writeRegistration(db: Database, space: string, each: Registration): Promise<unknown> {
  const { deviceId, passId, templateId, pushToken, changed, registeredAt } = each
  return db.query(WRITE, [space, deviceId, passId, templateId, pushToken, changed, toTimestamp(registeredAt)])
}

const OPEN: Statement = {
  name: 'wallet_heads_open',
  text: 'INSERT INTO wallet_heads (tenant_id, changed) VALUES ($1, 0) ON CONFLICT (tenant_id) DO NOTHING',
}

/** Starts recording the tenant's pass changes for wallets. */
export function openWallets(db: Database, space: string): Promise<unknown> {
  return db.query(OPEN, [space])
}

const NUMBER: Statement = {
  name: 'wallet_heads_number',
  text: 'UPDATE wallet_heads h SET changed = h.changed + 1 WHERE h.tenant_id = $1 RETURNING h.changed',
}

/**
 * Returns the number of the next change. Other changes of the tenant wait until the transaction ends, so numbers become
 * visible in order. Call it before you lock any row that the change affects, to avoid deadlocks.
 */
export async function numberChange(db: Database, space: string): Promise<number> {
  return (await db.query<{ changed: number }>(NUMBER, [space])).rows[0]!.changed
}

/** A device, and the trace in which one of its passes changed. */
export interface DeviceToNotify {
  readonly id: string
  readonly trace?: string | null | undefined
}

/** The lease of a worker that sends updates as soon as they are queued. */
export interface PushLease {
  /** UUID, unique to this use. */
  readonly token: string
  /** Machine time. */
  readonly until: number
}

/** A queued push. */
export interface QueuedPush {
  /** The device ID. */
  readonly target: string
  /** How many changes came after the first one. */
  readonly generation: number
  /** Time of the first unsent change, in machine time. */
  readonly since: number
  /** Number of consecutive failed attempts. */
  readonly tries: number
  /** The trace of the last change. */
  readonly trace: string | null
  /** The token of its lease. */
  readonly token: string | null
}

const PUSH: Statement = {
  name: 'wallet_updates_push',
  text: `INSERT INTO wallet_updates AS u (tenant_id, platform, target, since, trace, ready_at, token)
         SELECT h.tenant_id, 'apple', n.id, $3::timestamptz, n.trace, $4::timestamptz, $5::uuid
           FROM (SELECT id, trace FROM json_to_recordset($2) AS d (id text, trace text) ORDER BY id) AS n
           JOIN wallet_heads h ON h.tenant_id = $1
         ON CONFLICT (tenant_id, target, platform) DO UPDATE SET generation = u.generation + 1, trace = excluded.trace
         RETURNING u.target, u.generation, u.since, u.tries, u.trace, u.token`,
}

/**
 * Queues a push for each device. A device that is already queued gets a higher generation instead of a second row, and
 * keeps its lease.
 *
 * @param since machine time.
 * @param lease of the new rows. Without it, any worker can claim them.
 */
export function pushTo(
  db: Database,
  space: string,
  devices: readonly DeviceToNotify[],
  since: number,
  lease?: PushLease,
): Promise<RowResult<QueuedPush>> {
  const readyAt = lease ? toTimestamp(lease.until) : '-infinity'
  const values = [space, JSON.stringify(devices), toTimestamp(since), readyAt, lease?.token ?? null]
  return db.query<QueuedPush>(PUSH, values)
}

const DELETE: Statement = {
  name: 'apple_registrations_delete',
  text: `DELETE FROM apple_registrations r WHERE r.tenant_id = $1 AND r.device_id = $2
            AND r.pass_id IN (SELECT json_array_elements_text($3)) AND r.registered_at <= $4`,
}

/** Deletes registrations of a device. @param until machine time; later registrations stay. */
export function deleteRegistrations(
  db: Database,
  space: string,
  deviceId: string,
  passIds: readonly string[],
  until: number,
): Promise<unknown> {
  return db.query(DELETE, [space, deviceId, JSON.stringify(passIds), toTimestamp(until)])
}

const ABANDONED: Statement = {
  name: 'apple_registrations_abandoned',
  text: `SELECT n.id FROM json_array_elements_text($2) AS n (id)
           LEFT JOIN LATERAL (SELECT true AS found FROM apple_registrations r
                               WHERE r.tenant_id = $1 AND r.pass_id = n.id LIMIT 1) AS r ON true
          WHERE r.found IS NULL`,
}

/** Returns the IDs of the passes that no device has. */
export async function findAbandoned(
  db: Database,
  space: string,
  passIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await db.query<{ id: string }>(ABANDONED, [space, JSON.stringify(passIds)])
  return rows.map(({ id }) => id)
}

const OF_DEVICE: Statement = {
  name: 'apple_registrations_of_device',
  text: `SELECT r.pass_id FROM apple_registrations r
          WHERE r.tenant_id = $1 AND r.device_id = $2 AND r.push_token = $3 AND r.registered_at <= $4
          ORDER BY r.pass_id LIMIT $5`,
}

/** Returns the passes that the device registered with the push token, no later than `until` (machine time). */
export async function findByPushToken(
  db: Database,
  space: string,
  { deviceId, pushToken, until }: { deviceId: string; pushToken: string; until: number },
  limit: number,
): Promise<readonly string[]> {
  const values = [space, deviceId, pushToken, toTimestamp(until), limit]
  return (await db.query<{ pass_id: string }>(OF_DEVICE, values)).rows.map(({ pass_id }) => pass_id)
}

const COUNT: Statement = {
  name: 'apple_registrations_count',
  text: `SELECT count(*)::integer AS n
           FROM (SELECT FROM apple_registrations r WHERE r.tenant_id = $1 AND r.pass_id = $2
                  ORDER BY r.pass_id, r.device_id LIMIT $3) AS r`,
}

/** Counts the devices that have the pass, up to `limit`. */
export async function countDevices(
  db: Database,
  space: string,
  passId: string,
  limit: number,
): Promise<number> {
  return (await db.query<{ n: number }>(COUNT, [space, passId, limit])).rows[0]!.n
}

const IS_KNOWN: Statement = {
  name: 'apple_registrations_any',
  text: `SELECT EXISTS (SELECT FROM apple_registrations r WHERE r.tenant_id = $1 AND r.device_id = $2) AS known`,
}

/** Returns whether the device has any pass of the space. */
export async function isOnDevice(db: Database, space: string, deviceId: string): Promise<boolean> {
  return (await db.query<{ known: boolean }>(IS_KNOWN, [space, deviceId])).rows[0]!.known
}

const SINCE: Statement = {
  name: 'apple_registrations_since',
  text: `SELECT r.pass_id, r.changed FROM apple_registrations r
          WHERE r.tenant_id = $1 AND r.device_id = $2 AND r.changed > $3
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = $1)`,
}

/** Returns the device's passes with a change number above `after`; -1 returns all passes. */
export async function listChanged(
  db: Database,
  space: string,
  deviceId: string,
  after: number,
): Promise<readonly { readonly pass_id: string; readonly changed: number }[]> {
  return (await db.query<{ pass_id: string; changed: number }>(SINCE, [space, deviceId, after])).rows
}

const LOCATE: Statement = {
  name: 'apple_devices_locate',
  text: `SELECT d.space FROM control.apple_devices d WHERE d.environment = $1 AND d.device_id = $2
          ORDER BY d.space LIMIT $3`,
}

/**
 * Returns the spaces in which the device has or had passes.
 *
 * @param control connection with the owner's role, here and below.
 */
export async function locateDevice(
  control: Database,
  environment: Environment,
  deviceId: string,
  limit: number,
): Promise<readonly string[]> {
  const { rows } = await control.query<{ space: string }>(LOCATE, [environment, deviceId, limit])
  return rows.map(({ space }) => space)
}

const NOTE: Statement = {
  name: 'apple_devices_note',
  text: `INSERT INTO control.apple_devices AS d (environment, device_id, space, registered_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (environment, device_id, space)
         DO UPDATE SET registered_at = greatest(excluded.registered_at, d.registered_at + interval '1 ms')`,
}

/**
 * Records that the device has passes of the space. Each call writes a new time, so that `forgetDevice` can detect a
 * later call.
 */
export function noteDevice(
  control: Database,
  environment: Environment,
  deviceId: string,
  space: string,
  now: number,
): Promise<unknown> {
  return control.query(NOTE, [environment, deviceId, space, toTimestamp(now)])
}

const NOTED: Statement = {
  name: 'apple_devices_noted',
  text: `SELECT d.registered_at FROM control.apple_devices d
          WHERE d.environment = $1 AND d.device_id = $2 AND d.space = $3`,
}

/** Returns the time of the last `noteDevice`, in milliseconds since the epoch. */
export async function readNote(
  control: Database,
  environment: Environment,
  deviceId: string,
  space: string,
): Promise<number | undefined> {
  const { rows } = await control.query<{ registered_at: number }>(NOTED, [environment, deviceId, space])
  return rows[0]?.registered_at
}

const FORGET: Statement = {
  name: 'apple_devices_forget',
  text: `DELETE FROM control.apple_devices d
          WHERE d.environment = $1 AND d.device_id = $2 AND d.space = $3 AND d.registered_at = $4`,
}

/** Deletes the record, unless `noteDevice` has run again since `noted`. */
export function forgetDevice(
  control: Database,
  environment: Environment,
  deviceId: string,
  space: string,
  noted: number,
): Promise<unknown> {
  return control.query(FORGET, [environment, deviceId, space, toTimestamp(noted)])
}
