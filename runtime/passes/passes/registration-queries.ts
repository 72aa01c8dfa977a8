/** Passes on Apple's devices, as rows. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'

/** A pass on a device. */
export interface Registration {
  readonly deviceId: string
  readonly passId: string
  readonly templateId: string
  /** Where Apple's push service finds the device. */
  readonly pushToken: string
  /** The number of the last change that the device is told of; 0 for none. */
  readonly changed: number
  /** Machine time, milliseconds since the epoch. */
  readonly registeredAt: number
}

const IS_WIPED: Statement = {
  name: 'wiped_spaces_read',
  text: 'SELECT FROM wiped_spaces w WHERE w.tenant_id = $1',
}

/** Whether nothing of the space counts any more, though not everything may be deleted yet. */
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

/** A new one, or the push token of one that there is. */
export function writeRegistration(db: Database, space: string, each: Registration): Promise<unknown> {
  const { deviceId, passId, templateId, pushToken, changed, registeredAt } = each
  return db.query(WRITE, [space, deviceId, passId, templateId, pushToken, changed, toTimestamp(registeredAt)])
}

const OPEN: Statement = {
  name: 'wallet_heads_open',
  text: 'INSERT INTO wallet_heads (tenant_id, changed) VALUES ($1, 0) ON CONFLICT (tenant_id) DO NOTHING',
}

/** From now on changes of the tenant's passes are news to somebody. */
export function openWallets(db: Database, space: string): Promise<unknown> {
  return db.query(OPEN, [space])
}

const NUMBER: Statement = {
  name: 'wallet_heads_number',
  text: 'UPDATE wallet_heads h SET changed = h.changed + 1 WHERE h.tenant_id = $1 RETURNING h.changed',
}

/**
 * Numbers a change; the tenant's others wait until the transaction is over, so that numbers become visible in their order.
 * Before any row that the change concerns is locked: all do it in this order.
 */
export async function numberChange(db: Database, space: string): Promise<number> {
  return (await db.query<{ changed: number }>(NUMBER, [space])).rows[0]!.changed
}

const PUSH: Statement = {
  name: 'wallet_updates_push',
  text: `INSERT INTO wallet_updates AS u (tenant_id, platform, target, since)
         SELECT h.tenant_id, 'apple', n.id, $3::timestamptz
           FROM (SELECT id FROM json_array_elements_text($2) AS id ORDER BY id) AS n
           JOIN wallet_heads h ON h.tenant_id = $1
         ON CONFLICT (tenant_id, target, platform) DO UPDATE SET generation = u.generation + 1`,
}

/** Devices are to be told that something changed: each once, however often it is said. @param since machine time. */
export function pushTo(
  db: Database,
  space: string,
  devices: readonly string[],
  since: number,
): Promise<unknown> {
  return db.query(PUSH, [space, JSON.stringify(devices), toTimestamp(since)])
}

const DELETE: Statement = {
  name: 'apple_registrations_delete',
  text: `DELETE FROM apple_registrations r WHERE r.tenant_id = $1 AND r.device_id = $2
            AND r.pass_id IN (SELECT json_array_elements_text($3)) AND r.registered_at <= $4`,
}

/** @param until machine time: what registered later stays. */
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

/** Those of the passes that are on no device. */
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

/** Passes that the device registered with that push token, until then (machine time). */
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

/** Devices that have the pass, counted up to `limit`. */
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

/** Whether the device has any pass of the space. */
export async function isOnDevice(db: Database, space: string, deviceId: string): Promise<boolean> {
  return (await db.query<{ known: boolean }>(IS_KNOWN, [space, deviceId])).rows[0]!.known
}

const SINCE: Statement = {
  name: 'apple_registrations_since',
  text: `SELECT r.pass_id, r.changed FROM apple_registrations r
          WHERE r.tenant_id = $1 AND r.device_id = $2 AND r.changed > $3
            AND NOT EXISTS (SELECT FROM wiped_spaces w WHERE w.tenant_id = $1)`,
}

/** Passes on the device of which a change has a higher number than `after`; -1 for all. */
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

/** Spaces in which the device has passes, or had. @param control as the owner, here and below. */
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

/** The device has passes of the space. Each time with another instant, which `forgetDevice` tells apart. */
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

/** When it was noted last. */
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

/** Unless it was noted again since. */
export function forgetDevice(
  control: Database,
  environment: Environment,
  deviceId: string,
  space: string,
  noted: number,
): Promise<unknown> {
  return control.query(FORGET, [environment, deviceId, space, toTimestamp(noted)])
}
