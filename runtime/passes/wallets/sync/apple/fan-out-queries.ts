/** Changes of passes and templates, and the devices that are to be told of them. */
import { byPlace } from '../../../../database/by-place.ts'
import type { Database, Statement } from '../../../../database/database.ts'
import type { WalletPlatform } from './queue-queries.ts'

/** A pass or a template that has changed, and how far its walk is. */
export interface ChangedSubject {
  readonly subject_id: string
  /** Machine time. */
  readonly since: number
  readonly walked_to: string
  readonly walk_until: string
  /** Whether it has passed the end, and goes on to `walk_until`. */
  readonly anew: boolean
}

export type SubjectType = 'pass' | 'template'

const ANY: Statement = {
  name: 'wallet_changes_any',
  text: `SELECT EXISTS (SELECT FROM wallet_changes c WHERE c.tenant_id = $1 AND c.platform = $2
                         ORDER BY c.platform, c.subject_type, c.steps LIMIT 1) AS found`,
}

/** Whether anything has changed that somebody is still to be told of. */
export async function hasChanges(db: Database, space: string, platform: WalletPlatform): Promise<boolean> {
  return (await db.query<{ found: boolean }>(ANY, [space, platform])).rows[0]!.found
}

const TAKE: Statement = {
  name: 'wallet_changes_take',
  text: `SELECT c.subject_id, c.since, c.walked_to, c.walk_until, c.anew FROM wallet_changes c
          WHERE c.tenant_id = $1 AND c.platform = $2 AND c.subject_type = $3
          ORDER BY c.platform, c.subject_type, c.steps, c.subject_id LIMIT $4 FOR UPDATE SKIP LOCKED`,
}

/** Those whose turn it is, for this transaction alone. */
export async function takeChanges(
  tx: Database,
  space: string,
  platform: WalletPlatform,
  type: SubjectType,
  limit: number,
): Promise<readonly ChangedSubject[]> {
  return (await tx.query<ChangedSubject>(TAKE, [space, platform, type, limit])).rows
}

/** A part of the devices of a subject: behind `after`, up to `until`. */
export interface Stretch {
  readonly subject: string
  readonly after: string
  readonly until: string
}

/** A pass on a device that is to be told. */
export interface PushTarget {
  readonly subject: string
  readonly device_id: string
  readonly pass_id: string
}

const OF_PASSES: Statement = {
  name: 'apple_registrations_of_passes',
  text: `SELECT n.subject, r.device_id, r.pass_id
           FROM json_to_recordset($2) AS n (subject text, after text, until text)
          CROSS JOIN LATERAL (
            SELECT r.device_id, r.pass_id FROM apple_registrations r
             WHERE r.tenant_id = $1 AND r.pass_id = n.subject AND r.device_id > n.after AND r.device_id <= n.until
             ORDER BY r.pass_id, r.device_id LIMIT $3 FOR UPDATE) AS r`,
}

/** At most `limit` of each pass, locked. */
export async function listOfPasses(
  tx: Database,
  space: string,
  stretches: readonly Stretch[],
  limit: number,
): Promise<readonly PushTarget[]> {
  return (await tx.query<PushTarget>(OF_PASSES, [space, JSON.stringify(stretches), limit])).rows
}

// Whole devices: none is told twice because two steps have a part of its passes each.
const OF_TEMPLATE: Statement = {
  name: 'apple_registrations_of_template',
  text: `SELECT $2 AS subject, r.device_id, r.pass_id FROM apple_registrations r
          WHERE r.tenant_id = $1 AND r.template_id = $2 AND r.device_id > $3
            AND r.device_id <= coalesce(
              (SELECT l.device_id FROM apple_registrations l
                WHERE l.tenant_id = $1 AND l.template_id = $2 AND l.device_id > $3 AND l.device_id <= $4
                ORDER BY l.template_id, l.device_id OFFSET $5 LIMIT 1), $4)
          ORDER BY r.template_id, r.device_id FOR UPDATE OF r`,
}

/** At least `limit` where there are so many, and all passes of the last device; locked. */
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
  `UPDATE apple_registrations r SET changed = $3
     FROM json_to_recordset($2) AS n (device_id text, pass_id text)
    CROSS JOIN LATERAL (SELECT r.ctid AS place FROM apple_registrations r
                         WHERE r.tenant_id = $1 AND r.device_id = n.device_id AND r.pass_id = n.pass_id LIMIT 1) AS held
    WHERE r.tenant_id = $1 AND r.ctid = held.place`,
)

/** Gives those that are locked the number of the change. */
export function stamp(
  tx: Database,
  space: string,
  told: readonly PushTarget[],
  number: number,
): Promise<unknown> {
  return tx.query(STAMP, [space, JSON.stringify(told), number])
}

const held = (given: string) => `${given}
    CROSS JOIN LATERAL (SELECT c.ctid AS place FROM wallet_changes c
                         WHERE c.tenant_id = $1 AND c.platform = $2 AND c.subject_id = n.subject_id LIMIT 1) AS held
    WHERE c.tenant_id = $1 AND c.ctid = held.place`

const END = byPlace(
  'wallet_changes_end',
  `DELETE FROM wallet_changes c USING ${held('json_array_elements_text($3) AS n (subject_id)')}`,
)

/** Everybody is told of these, which are locked; here and below. */
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

/** Others are still to be told. */
export function goOn(
  tx: Database,
  space: string,
  platform: WalletPlatform,
  changes: readonly Pick<ChangedSubject, 'subject_id' | 'walked_to' | 'anew'>[],
): Promise<unknown> {
  return tx.query(GO_ON, [space, platform, JSON.stringify(changes)])
}
