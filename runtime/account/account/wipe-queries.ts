/** Wipes a tenant's sandbox. The tenant gets a new space immediately, and a worker deletes the old one in steps. */

import { records } from '../../../generated/canonical/records.ts'
import type { Database, Statement } from '../../database/database.ts'
import { NOT_NULL_VIOLATION } from '../../database/errors.ts'
import { pipelined } from '../../database/pipelined.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { readSpace, spaceOf } from '../../database/space.ts'
import { toTimestamp } from '../../database/types.ts'
import { endDeliveries, moveSandbox, retireSpace } from '../sandboxes/spaces.ts'

/** Tables of an environment that a wipe keeps: the audit log, usage, and the lists of sandboxes and of wiped spaces. */
export const KEPT_TABLES = [
  'audit_log',
  'audit_heads',
  'usage_counters',
  'usage_batches',
  'sandboxes',
  'sandbox_snapshots',
  'sandbox_snapshot_pages',
  'sandbox_restores',
  'wiped_spaces',
] as const

interface WipedTable {
  readonly name: string
  /** Column that orders the rows of a space by an index. Absent if a space has at most one row. */
  readonly key?: string
  /** Object type of the records; absent for internal tables. */
  readonly type?: string
  /**
   * Whether work in progress at the time of the wipe may still write to the table. It is emptied after the grace
   * period.
   */
  readonly isLate?: boolean
}

/**
 * Tables in order of deletion. Endpoints come first, so that delivery attempts that end later schedule no retries.
 */
const NAMED: readonly WipedTable[] = [
  { name: 'webhook_endpoints', key: 'id', type: 'webhook_endpoint' },
  { name: 'webhook_recoveries', key: 'id', type: 'webhook_recovery' },
  { name: 'webhook_held_events', key: 'key' },
  { name: 'webhook_blocks', key: 'endpoint_id' },
  { name: 'events', key: 'id', type: 'event' },
  { name: 'event_heads' },
  { name: 'idempotency_answers', key: 'key' },
  { name: 'request_log', key: 'id' },
  { name: 'injected_faults', key: 'request' },
  { name: 'sanctions_alerts', key: 'id', type: 'sanctions_alert' },
  { name: 'screenings' },
  { name: 'cardholders', key: 'id', type: 'cardholder' },
  { name: 'tokens', key: 'id', type: 'token' },
  // A worker locks the batch for which it queues messages, so the messages must be deleted after the batch.
  { name: 'pass_message_batches', key: 'id', type: 'pass_message_batch' },
  { name: 'pass_messages', key: 'id', type: 'pass_message' },
  { name: 'scans', key: 'id', type: 'scan' },
  { name: 'passes', key: 'id', type: 'pass' },
  { name: 'pass_templates', key: 'id', type: 'pass_template' },
  { name: 'trial_usage' },
  { name: 'authorization_endpoints' },
  { name: 'balance_alerts' },
  { name: 'bank_transfers', key: 'id' },
  { name: 'payouts', key: 'id', type: 'payout' },
  { name: 'payout_defaults' },
  { name: 'payout_destinations', key: 'id', type: 'payout_destination' },
  { name: 'dispute_files', key: 'dispute_id' },
  { name: 'disputes', key: 'id', type: 'dispute' },
  { name: 'authorization_decisions', key: 'id', type: 'authorization_decision' },
  { name: 'card_transactions', key: 'id', type: 'card_transaction' },
  { name: 'network_waiting', key: 'network_id' },
  { name: 'card_spending', key: 'card_id' },
  { name: 'settlement_lines', key: 'id' },
  { name: 'settlements', key: 'id', type: 'settlement' },
  { name: 'settlement_clocks' },
  // A worker locks the report that it writes, so the files must be deleted after the report.
  { name: 'treasury_reports', key: 'id', type: 'treasury_report' },
  { name: 'treasury_report_pieces', key: 'report_id' },
  { name: 'ledger_checkpoints', key: 'at' },
  { name: 'ledger_entries', key: 'id' },
  { name: 'ledger_transactions', key: 'cause' },
  { name: 'ledger_resolutions', key: 'hold_id' },
  { name: 'ledger_holds', key: 'id' },
  { name: 'ledger_accounts', key: 'id' },
  { name: 'wallet_tokens', key: 'id', type: 'wallet_token' },
  { name: 'provisioning_payloads', key: 'id', type: 'provisioning_payload' },
  { name: 'cards', key: 'id', type: 'card' },
  { name: 'card_programs', key: 'id', type: 'card_program' },
  { name: 'spending_control_drafts', key: 'id', type: 'spending_control_draft' },
  { name: 'spending_control_versions', key: 'id' },
  { name: 'spending_control_backtests', key: 'id', type: 'spending_control_backtest' },
  { name: 'spending_control_flips', key: 'id' },
  { name: 'spending_control_shadow_totals', key: 'shadow' },
  { name: 'spending_control_replacements', key: 'draft_id' },
  { name: 'promotions', key: 'id' },
  { name: 'promoted_objects', key: 'sandbox_id' },
  { name: 'promotion_heads' },
  { name: 'wallet_changes', key: 'subject_id', isLate: true },
  { name: 'wallet_updates', key: 'target', isLate: true },
  { name: 'apple_registrations', key: 'device_id', isLate: true },
  { name: 'wallet_heads', isLate: true },
  { name: 'chain_transfers', key: 'id', isLate: true },
  { name: 'google_callbacks', key: 'nonce', isLate: true },
  { name: 'google_cursors', isLate: true },
  { name: 'google_refusals', key: 'target_id', isLate: true },
  { name: 'touched_changes', key: 'change', isLate: true },
  { name: 'daily_totals', key: 'day', isLate: true },
  { name: 'totals_cursors', isLate: true },
  { name: 'pass_counts', key: 'template_id', isLate: true },
  { name: 'ledger_hold_totals', key: 'until', isLate: true },
  { name: 'webhook_senders', isLate: true },
  { name: 'webhook_waiting', key: 'attempt_id', isLate: true },
  { name: 'webhook_ready', key: 'attempt_id', isLate: true },
  { name: 'webhook_attempts', key: 'id', type: 'webhook_delivery_attempt', isLate: true },
]

/**
 * Records of the newest document that are not in a table above. The table of such a record has the name of its tag.
 */
const FURTHER: readonly WipedTable[] = Object.values(records).flatMap((record) => {
  if (!('read' in record)) return []
  const { object, tag } = record
  const isNamed =
    NAMED.some(({ name, type }) => type === object || name === tag || name === object) ||
    KEPT_TABLES.some((name) => name === tag)
  return isNamed ? [] : [{ name: tag, key: 'id', type: object }]
})

const WIPED: readonly WipedTable[] = [
  ...NAMED.filter(({ isLate }) => !isLate),
  ...FURTHER,
  ...NAMED.filter(({ isLate }) => isLate),
]

export const WIPED_TABLES = WIPED.map(({ name }) => name)

/** Wiped tables from which only the owner can delete. */
export const CLOSED_TABLES = ['card_numbers'] as const

/** Wiped tables whose records callers can see. */
export const RECORD_TABLES = WIPED.filter(({ type }) => type !== undefined).map(({ name }) => name)

// Lock order: the row of the tenant comes first, as in a key rotation, so that changes of one account are serialized.
const MOVE: Statement = {
  text: `UPDATE control.tenants SET sandbox_wipes = sandbox_wipes + 1 WHERE id = $1 AND sandbox_wipes = $2`,
}

// Every write in the old space ends with its audit entry. Before this statement, the write is counted. After it, the
// write fails and is retried in the new space.
const CLOSE: Statement = { text: 'UPDATE audit_heads SET wipes = $2 WHERE tenant_id = $1' }

// Without its bucket, the old space sends no deliveries. The new space gets the tokens that are left.
const READ_BUCKET: Statement = {
  text: 'SELECT tokens, refilled_at FROM webhook_senders WHERE tenant_id = $1 FOR UPDATE',
}

const OPEN_BUCKET: Statement = {
  text: 'INSERT INTO webhook_senders (tenant_id, tokens, refilled_at, planned) VALUES ($1, $2, $3, $4)',
}

// The sequence of events continues, so that a client that streams events does not see a number twice.
const READ_SEQUENCE: Statement = { text: 'SELECT sequence FROM event_heads WHERE tenant_id = $1' }

const OPEN_SEQUENCE: Statement = { text: 'INSERT INTO event_heads (tenant_id, sequence) VALUES ($1, $2)' }

/**
 * Carries the bucket and the event sequence over. Each statement is for one space, because the spaces may be on
 * different shards.
 */
async function carryOver(db: Database, old: string, space: string): Promise<void> {
  const [buckets, heads] = await Promise.all([
    db.query<{ tokens: number; refilled_at: number }>(READ_BUCKET, [old]),
    db.query<{ sequence: number }>(READ_SEQUENCE, [old]),
  ])
  const sequence = heads.rows[0]?.sequence
  for (const { tokens, refilled_at } of buckets.rows) {
    pipelined(db.query(OPEN_BUCKET, [space, tokens, toTimestamp(refilled_at), sequence ?? 0]))
  }
  if (sequence !== undefined) pipelined(db.query(OPEN_SEQUENCE, [space, sequence]))
  endDeliveries(db, old)
}

/**
 * Maximum count of each type, because the tenant's writes wait for the count. The result may mean "that many or
 * more".
 */
const MAX_COUNTED = 1_000_000

const COUNT: Statement = {
  text: `SELECT ${WIPED.flatMap(({ name, type }) =>
    type === undefined
      ? []
      : `(SELECT count(*) FROM (SELECT FROM ${name} WHERE tenant_id = $1 LIMIT $2) AS counted) AS ${type}`,
  ).join(', ')}`,
}

export interface WipedSpace {
  /** The tenant's space from now on. */
  readonly space: string
  /** Number of records of each type in the old space. */
  readonly deleted: Readonly<Record<string, number>>
}

/** A concurrent wipe came first. The error is the same as for any other write in the old space. */
function wipedAlready(): Error {
  return Object.assign(new Error('the space was already wiped'), {
    code: NOT_NULL_VIOLATION,
    table: 'audit_heads',
  })
}

/**
 * Moves a tenant to a new space in the sandbox. Call this in a transaction of the owner. If a concurrent wipe came
 * first, it fails with an error that `isSpaceWiped` recognizes. The tenant's other writes wait while its records are
 * counted.
 *
 * @param now machine time, milliseconds since the epoch.
 */
export async function wipeSpace(
  db: Database,
  old: string,
  now: number,
  maxCounted: number = MAX_COUNTED,
): Promise<WipedSpace> {
  const { tenantId, wipes, sandbox } = readSpace(old)
  const space = spaceOf(tenantId, wipes + 1, sandbox)
  if (sandbox === undefined) {
    if ((await db.query(MOVE, [tenantId, wipes])).count === 0) throw wipedAlready()
    pipelined(db.query(CLOSE, [tenantId, wipes + 1]))
    retireSpace(db, old, now)
  } else if (!(await moveSandbox(db, old, space, now))) {
    throw wipedAlready()
  }
  await carryOver(db, old, space)
  const { rows } = await db.query<Record<string, number>>(COUNT, [old, maxCounted])
  return { space, deleted: rows[0]! }
}

export interface RetiredSpace {
  readonly space: string
  /** Machine time. */
  readonly wipedAt: number
}

// The spaces of a tenant that moves to or from a different installation are in the table too, and keep their rows.
const LIST: Statement = {
  text: 'SELECT tenant_id, wiped_at FROM wiped_spaces WHERE NOT is_moving ORDER BY wiped_at',
}

/** Lists wiped spaces that still have rows, the longest wiped first. */
export async function listWipedSpaces(db: Database): Promise<readonly RetiredSpace[]> {
  const { rows } = await db.query<{ tenant_id: string; wiped_at: number }>(LIST)
  return rows.map(({ tenant_id, wiped_at }) => ({ space: tenant_id, wipedAt: wiped_at }))
}

const HOLD: Statement = {
  text: 'SELECT FROM wiped_spaces WHERE tenant_id = $1 FOR UPDATE SKIP LOCKED',
}

/**
 * Deletes at most `limit` rows of a table whose key is after `after`. Returns the last key; undefined if no rows are
 * left.
 */
async function deleteStep(
  tx: Database,
  { name, key }: WipedTable,
  space: string,
  after: string | undefined,
  limit: number,
): Promise<string | undefined> {
  if (key === undefined) {
    await tx.query({ text: `DELETE FROM ${name} WHERE tenant_id = $1` }, [space])
    return undefined
  }
  const behind = after === undefined ? '' : `AND ${key} > $3`
  const { rows } = await tx.query<{ last: string | null }>(
    {
      text: `WITH last AS MATERIALIZED (
               SELECT ${key} FROM ${name} WHERE tenant_id = $1 ${behind} ORDER BY ${key} OFFSET $2 LIMIT 1
             ), gone AS (
               DELETE FROM ${name} WHERE tenant_id = $1 ${behind} AND ${key} <= (SELECT ${key} FROM last)
             )
             SELECT ${key}::text AS last FROM last`,
    },
    after === undefined ? [space, limit - 1] : [space, limit - 1, after],
  )
  const last = rows[0]?.last ?? undefined
  if (last === undefined) {
    const rest = { text: `DELETE FROM ${name} WHERE tenant_id = $1 ${behind.replace('$3', '$2')}` }
    await tx.query(rest, after === undefined ? [space] : [space, after])
  }
  return last
}

// Progress is stored, because a scan from the start would read the index entries of all deleted rows that are not
// vacuumed yet.
const READ_PROGRESS: Statement = {
  text: 'SELECT emptying, emptied_to FROM wiped_spaces WHERE tenant_id = $1',
}

const NOTE_PROGRESS: Statement = {
  text: 'UPDATE wiped_spaces SET emptying = $2, emptied_to = $3 WHERE tenant_id = $1',
}

interface WipeProgress {
  readonly emptying: string | null
  readonly emptied_to: string | null
}

/**
 * Deletes everything in a wiped space, at most `limit` rows in a transaction. Stops if a different worker is emptying
 * the space. After a worker dies, the next one resumes at its last position.
 *
 * @param isOver whether work in progress at the time of the wipe has ended. Tables to which it may write wait for
 * that.
 * @param pause awaited after each transaction; resolves with false to stop.
 * @returns whether the space is empty.
 */
export async function emptySpace(
  pool: Pool,
  space: string,
  limit: number,
  isOver: boolean,
  pause: () => Promise<boolean>,
): Promise<boolean> {
  const [progress] = (await pool.query<WipeProgress>(READ_PROGRESS, [space])).rows
  const begun = WIPED.findIndex(({ name }) => name === progress?.emptying)
  for (const table of WIPED.slice(Math.max(begun, 0))) {
    if (table.isLate && !isOver) return false
    let after = table.name === progress?.emptying ? (progress.emptied_to ?? undefined) : undefined
    do {
      const step = await pool.transaction(async (tx) => {
        if ((await tx.query(HOLD, [space])).count === 0) return 'held'
        const last = await deleteStep(tx, table, space, after, limit)
        await tx.query(NOTE_PROGRESS, [space, table.name, last ?? after ?? null])
        return { last }
      })
      if (step === 'held') return false
      after = step.last
      if (!(await pause())) return false
    } while (after !== undefined)
  }
  return true
}

const FORGET_NUMBERS: Statement = {
  text: `DELETE FROM sandbox.card_numbers n WHERE n.tenant_id = $1 AND n.card_id IN (
           SELECT g.card_id FROM sandbox.card_numbers g WHERE g.tenant_id = $1 ORDER BY g.card_id LIMIT $2)`,
}

/**
 * Deletes card numbers of the space, at most `limit`.
 *
 * @param control connection of the owner.
 * @returns whether none is left.
 */
export async function forgetNumbers(control: Database, space: string, limit: number): Promise<boolean> {
  return (await control.query(FORGET_NUMBERS, [space, limit])).count < limit
}

const FORGET_DEVICES: Statement = {
  text: `DELETE FROM control.apple_devices d WHERE d.environment = 'sandbox' AND d.space = $1 AND d.device_id IN (
           SELECT g.device_id FROM control.apple_devices g
            WHERE g.environment = 'sandbox' AND g.space = $1 ORDER BY g.device_id LIMIT $2)`,
}

/**
 * Deletes registrations of devices that had passes in the space, at most `limit`.
 *
 * @param control connection of the owner.
 * @returns whether none is left.
 */
export async function forgetDevices(control: Database, space: string, limit: number): Promise<boolean> {
  return (await control.query(FORGET_DEVICES, [space, limit])).count < limit
}

const FORGET: Statement = { text: 'DELETE FROM wiped_spaces WHERE tenant_id = $1' }

/** Removes a space from the list. It must be empty, and no work may still write to it. */
export async function forgetSpace(db: Database, space: string): Promise<void> {
  await db.query(FORGET, [space])
}
