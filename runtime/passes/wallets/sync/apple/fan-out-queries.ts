/** Queries for the fan-out: changed passes and templates, and the devices to notify. */
import { byPlace } from '../../../../database/by-place.ts'
import type { Database, Statement } from '../../../../database/database.ts'
import type { WalletPlatform } from './queue-queries.ts'

/** A changed pass or template, and the position of its fan-out. */
export interface ChangedSubject {
  readonly subject_id: string
  /** Time of the first change, in machine time. */
  readonly since: number
  readonly walked_to: string
  readonly walk_until: string
  /** Whether the fan-out has wrapped around, so that it ends at `walk_until`. */
  readonly anew: boolean
  /** The trace of the last change. */
  readonly trace: string | null
}

export type SubjectType = 'pass' | 'template'

const ANY: Statement = {
  name: 'wallet_changes_any',
  text: `SELECT EXISTS (SELECT FROM wallet_changes c WHERE c.tenant_id = $1 AND c.platform = $2
                         ORDER BY c.platform, c.subject_type, c.steps LIMIT 1) AS found`,
}

/** Returns whether any fan-out is pending. */
export async function hasChanges(db: Database, space: string, platform: WalletPlatform): Promise<boolean> {
  return (await db.query<{ found: boolean }>(ANY, [space, platform])).rows[0]!.found
}

const TAKE: Statement = {
  name: 'wallet_changes_take',
  text: `SELECT c.subject_id, c.since, c.walked_to, c.walk_until, c.anew, c.trace FROM wallet_changes c
          WHERE c.tenant_id = $1 AND c.platform = $2 AND c.subject_type = $3
          ORDER BY c.platform, c.subject_type, c.steps, c.subject_id LIMIT $4 FOR UPDATE SKIP LOCKED`,
}

/** Locks the pending fan-outs with the fewest steps so far, skipping those that other workers have locked. */
export async function takeChanges(
  tx: Database,
  space: string,
  platform: WalletPlatform,
  type: SubjectType,
  limit: number,
): Promise<readonly ChangedSubject[]> {
  return (await tx.query<ChangedSubject>(TAKE, [space, platform, type, limit])).rows
}

/** A range of a subject's devices: greater than `after`, up to and including `until`. */
export interface Stretch {
  readonly subject: string
  readonly after: string
  readonly until: string
}

/** A registration to notify. */
export interface PushTarget {
  readonly subject: string
  readonly device_id: string
  /** Where its row is (ctid), which the lock keeps there. */
  readonly place: string
}

const OF_PASSES: Statement = {
  name: 'apple_registrations_of_passes',
  text: `SELECT n.subject, r.device_id, r.place
           FROM json_to_recordset($2) AS n (subject text, after text, until text)
          CROSS JOIN LATERAL (
            SELECT r.device_id, r.ctid AS place FROM apple_registrations r
             WHERE r.tenant_id = $1 AND r.pass_id = n.subject AND r.device_id > n.after AND r.device_id <= n.until
             ORDER BY r.pass_id, r.device_id LIMIT $3 FOR UPDATE) AS r`,
}

/** Locks and returns at most `limit` registrations of each pass. */
export async function listOfPasses(
  tx: Database,
  space: string,
  stretches: readonly Stretch[],
  limit: number,
): Promise<readonly PushTarget[]> {
  return (await tx.query<PushTarget>(OF_PASSES, [space, JSON.stringify(stretches), limit])).rows
}

// A step always covers all passes of a device, so no device is notified twice by two steps.
const OF_TEMPLATE: Statement = {
  name: 'apple_registrations_of_template',
  text: `SELECT $2 AS subject, r.device_id, r.ctid AS place FROM apple_registrations r
          WHERE r.tenant_id = $1 AND r.template_id = $2 AND r.device_id > $3
            AND r.device_id <= coalesce(
              (SELECT l.device_id FROM apple_registrations l
                WHERE l.tenant_id = $1 AND l.template_id = $2 AND l.device_id > $3 AND l.device_id <= $4
                ORDER BY l.template_id, l.device_id OFFSET $5 LIMIT 1), $4)
          ORDER BY r.template_id, r.device_id FOR UPDATE OF r`,
}

/**
 * Locks and returns the next registrations of a template: at least `limit`, except at the end, plus any other passes of
 * the last device.
 */
export async function listOfTemplate(
  tx: Database,
  space: string,
  { subject, after, until }: Stretch,
  limit: number,
): Promise<readonly PushTarget[]> {
  return (await tx.query<PushTarget>(OF_TEMPLATE, [space, subject, after, until, limit - 1])).rows
}

const STAMP = byPlace(
  'apple_registrations_stamp',
  `UPDATE apple_registrations r SET changed = $3 WHERE r.tenant_id = $1 AND r.ctid = ANY($2::tid[])`,
)

/** Writes the number of the change to registrations that this transaction has locked. */
export function stamp(
  tx: Database,
  space: string,
  told: readonly PushTarget[],
  number: number,
): Promise<unknown> {
  return tx.query(STAMP, [space, told.map(({ place }) => place), number])
}

const held = (given: string) => `${given}
    CROSS JOIN LATERAL (SELECT c.ctid AS place FROM wallet_changes c
                         WHERE c.tenant_id = $1 AND c.platform = $2 AND c.subject_id = n.subject_id LIMIT 1) AS held
    WHERE c.tenant_id = $1 AND c.ctid = held.place`

const END = byPlace(
  'wallet_changes_end',
  `DELETE FROM wallet_changes c USING ${held('json_array_elements_text($3) AS n (subject_id)')}`,
)

/** Deletes completed fan-outs. This transaction must hold their locks, as for `goOn`. */
export function endChanges(
  tx: Database,
  space: string,
  platform: WalletPlatform,
  subjects: readonly string[],
): Promise<unknown> {
  return tx.query(END, [space, platform, JSON.stringify(subjects)])
}

const GO_ON = byPlace(
  'wallet_changes_go_on',
  `UPDATE wallet_changes c SET walked_to = n.walked_to, anew = n.anew, steps = c.steps + 1
     FROM ${held('json_to_recordset($3) AS n (subject_id text, walked_to text, anew boolean)')}`,
)

/** Saves the positions of fan-outs that are not complete. */
export function goOn(
  tx: Database,
  space: string,
  platform: WalletPlatform,
  changes: readonly Pick<ChangedSubject, 'subject_id' | 'walked_to' | 'anew'>[],
): Promise<unknown> {
  return tx.query(GO_ON, [space, platform, JSON.stringify(changes)])
}
