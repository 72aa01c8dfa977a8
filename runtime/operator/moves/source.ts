/** The source of a move: closes a tenant, opens it again, or leaves it closed for good. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Database, Statement } from '../../database/database.ts'
import { messageOf } from '../../database/errors.ts'
import { bumpRevision } from '../../database/revision.ts'
import { toTimestamp } from '../../database/types.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { runPeriodically } from '../../platform/periodic.ts'
import { ControlError, type Operator } from '../../tenants/admin/change.ts'
import { noTenant } from '../../tenants/admin/tenants.ts'
import { AS_TEXT, readRows, type TextRow, writeRows } from './rows.ts'
import { listSpaces, type MovedTables } from './tables.ts'

export type SourceState = 'copying' | 'fenced' | 'moved'

/** What a fence takes from an environment, so that nothing is written there. */
interface KeptOfEnvironment {
  /** As in audit_heads: the spaces in which writes are accepted. */
  readonly wipes: number
  readonly openSpaces: readonly string[]
  /** Rows of webhook_senders. */
  readonly senders: readonly TextRow[]
  /** Spaces that were wiped before, and when (ISO 8601). */
  readonly wiped: readonly { readonly space: string; readonly at: string }[]
}

export type Kept = Readonly<Record<Environment, KeptOfEnvironment>>

/** A run of the command. A later run takes over, and steps of this one then fail. */
export interface MoveRun {
  readonly tenantId: string
  readonly id: string
}

const BEGIN: Statement = {
  text: `INSERT INTO control.tenant_moves AS m (tenant_id, state, run, hint, updated)
         SELECT t.id, 'copying', $2, $3, $4 FROM control.tenants t WHERE t.id = $1
         ON CONFLICT (tenant_id) DO UPDATE
            SET run = excluded.run, hint = coalesce(excluded.hint, m.hint), updated = excluded.updated,
                state = CASE m.state WHEN 'arrived' THEN 'copying' ELSE m.state END
          WHERE m.state <> 'arriving'
         RETURNING state`,
}

const FIND: Statement = { text: 'SELECT kept, left_by FROM control.tenant_moves WHERE tenant_id = $1' }

/**
 * Begins a move, or continues it after a kill.
 *
 * @param hint where callers find the account afterwards.
 * @returns the state that an earlier run has reached.
 */
export async function beginAtSource(
  { control, clock }: Operator,
  { tenantId, id }: MoveRun,
  hint: string | undefined,
): Promise<SourceState> {
  const values = [tenantId, id, hint ?? null, toTimestamp(clock.machine())]
  const { rows } = await control.query<{ state: SourceState }>(BEGIN, values)
  if (rows[0]) return rows[0].state
  if ((await control.query(FIND, [tenantId])).count === 0) throw noTenant(tenantId)
  throw new ControlError(
    'conflict',
    `the tenant ${tenantId} is arriving at this installation: run the move at its source again`,
  )
}

const LOCK_RUN: Statement = {
  text: 'SELECT run = $2 AS is_own, state FROM control.tenant_moves WHERE tenant_id = $1 FOR NO KEY UPDATE',
}

/** Locks the move. @returns its state; undefined if a later run has taken over. */
async function lockState(db: Database, { tenantId, id }: MoveRun): Promise<string | undefined> {
  const { rows } = await db.query<{ is_own: boolean; state: string }>(LOCK_RUN, [tenantId, id])
  return rows[0]?.is_own ? rows[0].state : undefined
}

const REASONS: Readonly<Record<string, (tenantId: string) => string>> = {
  copying: (tenantId) =>
    `the service has opened ${tenantId} again, because this command did not report for ${LEASE_SECONDS} seconds: run it again`,
  moved: (tenantId) =>
    `${tenantId} has left this installation: run the command again to open it at the target`,
}

const otherwise = (tenantId: string) =>
  `a different run of the command moves ${tenantId} now: leave it to that run`

function requireState({ tenantId }: MoveRun, found: string | undefined, state: string): void {
  if (found === state) return
  const reason = REASONS[found ?? ''] ?? otherwise
  throw new ControlError('conflict', reason(tenantId))
}

/** Locks the move, and checks that it still is in this state of this run. */
export async function lockRun(db: Database, run: MoveRun, state: string): Promise<void> {
  requireState(run, await lockState(db, run), state)
}

const OPEN_PAYOUTS: Statement = {
  text: ENVIRONMENTS.map(
    (environment) =>
      `SELECT '${environment}' AS environment, p.id FROM ${environment}.payouts p
        WHERE p.tenant_id = ANY ($1) AND (p.status IN ('pending', 'in_transit')
           OR EXISTS (SELECT FROM ${environment}.bank_transfers b
                       WHERE b.tenant_id = p.tenant_id AND b.id = p.id AND b.state <> 'ended')
           OR EXISTS (SELECT FROM ${environment}.chain_transfers c
                       WHERE c.tenant_id = p.tenant_id AND c.id = p.id AND c.state IN ('queued', 'signing', 'in_transit')))`,
  ).join(' UNION ALL '),
}

const OPEN_PAYMENTS: Statement = {
  text: `SELECT environment, transfer_id AS id FROM control.chain_payments WHERE space = ANY ($1) AND state = 'open'`,
}

/**
 * Refuses a move while a payout can still be paid, because the bank and the chain account belong to the installation: each
 * of the two could pay it.
 */
export async function requireNoOpenPayouts(db: Database, spaces: readonly string[]): Promise<void> {
  const { rows } = await db.query<{ environment: Environment; id: string }>(OPEN_PAYOUTS, [spaces])
  const payments = await db.query<{ environment: Environment; id: string }>(OPEN_PAYMENTS, [spaces])
  const open = [
    ...new Set([...rows, ...payments.rows].map(({ environment, id }) => `${id} (${environment})`)),
  ]
  if (open.length === 0) return
  const names = open.slice(0, 5).join(', ') + (open.length > 5 ? ', …' : '')
  throw new ControlError(
    'refused',
    `${open.length} payouts are not paid yet: ${names}. Wait until they are paid or failed, or cancel them, and run the command again`,
  )
}

const readWiped = (environment: Environment): Statement => ({
  text: `SELECT w.tenant_id AS space, to_json(w.wiped_at)#>>'{}' AS at FROM ${environment}.wiped_spaces w
          WHERE w.tenant_id = ANY ($1) AND NOT w.is_moving`,
})

const readHead = (environment: Environment): Statement => ({
  text: `SELECT wipes, open_spaces FROM ${environment}.audit_heads WHERE tenant_id = $1 FOR UPDATE`,
})

const closeHead = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.audit_heads SET wipes = -1, open_spaces = '{}' WHERE tenant_id = $1`,
})

/** Keeps workers away from spaces. */
export const retire = (environment: Environment): Statement => ({
  text: `INSERT INTO ${environment}.wiped_spaces (tenant_id, wiped_at, is_moving) VALUES ($1, $2, true)
         ON CONFLICT (tenant_id) DO UPDATE SET is_moving = true`,
})

/** Waits for a worker that is planning. The rows are read afterwards, or what it planned would be planned and sent again. */
const lockSending = (environment: Environment): Statement => ({
  text: `SELECT FROM ${environment}.webhook_senders WHERE tenant_id = $1 FOR UPDATE`,
})

const endSending = (environment: Environment): Statement => ({
  text: `DELETE FROM ${environment}.webhook_senders WHERE tenant_id = $1`,
})

const spacesIn = (environment: Environment, { tenantId }: MoveRun, spaces: readonly string[]) =>
  environment === 'live' ? [tenantId] : spaces

async function closeEnvironment(
  db: Database,
  environment: Environment,
  { run, spaces, tables, now }: ClosedPlace,
): Promise<KeptOfEnvironment> {
  const own = spacesIn(environment, run, spaces)
  const head = await db.query<{ wipes: number; open_spaces: readonly string[] }>(readHead(environment), [
    run.tenantId,
  ])
  await db.query(closeHead(environment), [run.tenantId])
  const { rows: wiped } = await db.query<{ space: string; at: string }>(readWiped(environment), [own])
  const senders: TextRow[] = []
  for (const space of own) {
    await db.query(retire(environment), [space, toTimestamp(now)])
    await db.query(lockSending(environment), [space])
    senders.push(...(await readRows(db, tables.senders[environment], space, {})))
    await db.query(endSending(environment), [space])
  }
  const { wipes, open_spaces: openSpaces } = head.rows[0]!
  return { wipes, openSpaces, senders, wiped }
}

interface ClosedPlace {
  readonly run: MoveRun
  readonly spaces: readonly string[]
  readonly tables: MovedTables
  readonly now: number
}

const LOCK_TENANT: Statement = { text: 'SELECT FROM control.tenants WHERE id = $1 FOR NO KEY UPDATE' }

/** A fence whose command has not reported for this time is taken down by the service. The clock is the database's. */
const LEASE_SECONDS = 30

/** Time between two reports, in milliseconds. */
const REPORT_MS = 5000

const LEASE = `now() + interval '${LEASE_SECONDS} seconds'`

const FENCE: Statement = {
  text: `UPDATE control.tenant_moves SET state = 'fenced', kept = $2, updated = $3, alive_until = ${LEASE} WHERE tenant_id = $1`,
}

/**
 * Closes the tenant for writes, and takes its work away from workers. The database enforces both: each write ends in the
 * head of the audit log, which is closed, and workers skip its spaces.
 */
export function fence(operator: Operator, run: MoveRun, tables: MovedTables): Promise<void> {
  const now = operator.clock.machine()
  return operator.control.transaction(async (db) => {
    await lockRun(db, run, 'copying')
    await db.query(LOCK_TENANT, [run.tenantId])
    await db.query(AS_TEXT)
    const spaces = await listSpaces(db, run.tenantId)
    const place = { run, spaces, tables, now }
    const kept: Kept = {
      sandbox: await closeEnvironment(db, 'sandbox', place),
      live: await closeEnvironment(db, 'live', place),
    }
    await requireNoOpenPayouts(db, spaces)
    await db.query(FENCE, [run.tenantId, JSON.stringify(kept), toTimestamp(now)])
    await bumpRevision(db)
  })
}

const REPORT: Statement = {
  text: `UPDATE control.tenant_moves SET alive_until = ${LEASE} WHERE tenant_id = $1 AND run = $2 AND state = 'fenced'`,
}

/**
 * Closes the tenant for writes, and reports that the command is alive until the work ends. Opens the tenant again if the work
 * fails. If the process dies, the service opens it.
 */
export async function whileFenced<T>(
  operator: Operator,
  run: MoveRun,
  tables: MovedTables,
  work: () => Promise<T>,
): Promise<T> {
  await fence(operator, run, tables)
  let notReported: unknown
  const report = async () => {
    await operator.control.query(REPORT, [run.tenantId, run.id])
    notReported = undefined
  }
  const reports = runPeriodically(report, {
    pauseMs: REPORT_MS,
    failed(error) {
      notReported = error
    },
  })
  try {
    return await work()
  } catch (error) {
    const reasons: unknown[] = notReported === undefined ? [error] : [error, notReported]
    await unfence(operator, run, tables).catch((cause: unknown) => reasons.push(cause))
    if (reasons.length === 1) throw error
    throw new ControlError('refused', reasons.map(messageOf).join('; '), { cause: error })
  } finally {
    await reports.stop()
  }
}

const reopenHead = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.audit_heads SET wipes = $2, open_spaces = $3 WHERE tenant_id = $1`,
})

const revive = (environment: Environment): Statement => ({
  text: `DELETE FROM ${environment}.wiped_spaces WHERE tenant_id = ANY ($1) AND is_moving`,
})

const rewipe = (environment: Environment): Statement => ({
  text: `INSERT INTO ${environment}.wiped_spaces (tenant_id, wiped_at) VALUES ($1, $2)`,
})

/** Gives the spaces back to writes and workers, with what a fence has kept. */
export async function reopen(
  db: Database,
  { tenantId }: MoveRun,
  kept: Kept,
  spaces: readonly string[],
  { senders }: MovedTables,
): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    const { wipes, openSpaces, senders: rows, wiped } = kept[environment]
    await db.query(reopenHead(environment), [tenantId, wipes, openSpaces])
    await db.query(revive(environment), [spaces])
    for (const { space, at } of wiped) await db.query(rewipe(environment), [space, at])
    await writeRows(db, senders[environment], rows)
  }
}

/** Returns the run in which the tenant left an installation, or in which a target was found to be the same. */
export async function readLeft(db: Database, tenantId: string): Promise<string | null> {
  const { rows } = await db.query<{ left_by: string | null }>(FIND, [tenantId])
  return rows[0]?.left_by ?? null
}

/** Reads what the fence has kept. */
export async function readKept(db: Database, tenantId: string): Promise<Kept> {
  const { rows } = await db.query<{ kept: Kept }>(FIND, [tenantId])
  return rows[0]!.kept
}

const UNFENCE: Statement = {
  text: `UPDATE control.tenant_moves SET state = 'copying', kept = NULL, alive_until = NULL, updated = $2 WHERE tenant_id = $1`,
}

/** Opens the tenant again, if the fence is still there. */
export function unfence(
  operator: Pick<Operator, 'control' | 'clock'>,
  run: MoveRun,
  tables: MovedTables,
): Promise<void> {
  return operator.control.transaction(async (db) => {
    const state = await lockState(db, run)
    if (state === 'copying') return
    requireState(run, state, 'fenced')
    const spaces = await listSpaces(db, run.tenantId)
    await reopen(db, run, await readKept(db, run.tenantId), spaces, tables)
    await db.query(UNFENCE, [run.tenantId, toTimestamp(operator.clock.machine())])
    await bumpRevision(db)
  })
}

const ABANDONED: Statement = {
  text: `SELECT tenant_id, run AS id FROM control.tenant_moves WHERE state = 'fenced' AND alive_until < now()`,
}

/** Lists the fences whose commands do not report any more. */
export async function listAbandoned(db: Database): Promise<readonly MoveRun[]> {
  const { rows } = await db.query<{ tenant_id: string; id: string }>(ABANDONED)
  return rows.map(({ tenant_id, id }) => ({ tenantId: tenant_id, id }))
}

const SENDING: Statement = {
  text: ENVIRONMENTS.map(
    (environment) =>
      `SELECT FROM ${environment}.webhook_ready r WHERE r.tenant_id = ANY ($1) AND r.lease_until > $2
       UNION ALL
       SELECT FROM ${environment}.wallet_updates u
        WHERE u.tenant_id = ANY ($1) AND u.token IS NOT NULL AND u.ready_at > $2
       UNION ALL
       SELECT FROM ${environment}.google_cursors c
        WHERE c.tenant_id = ANY ($1) AND c.token IS NOT NULL AND c.ready_at > $2`,
  ).join(' UNION ALL '),
}

const POLL_MS = 50

/**
 * Waits until workers have sent the webhooks and wallet updates that they began before the fence.
 *
 * @param until time of `performance.now()`.
 * @returns false if they are still sending then.
 */
export async function waitForSending(
  { control, clock }: Operator,
  spaces: readonly string[],
  until: number,
): Promise<boolean> {
  while ((await control.query(SENDING, [spaces, toTimestamp(clock.machine())])).count > 0) {
    if (performance.now() > until) return false
    await wait(POLL_MS)
  }
  return true
}

const LEAVE: Statement = {
  text: `UPDATE control.tenant_moves SET state = 'moved', left_by = run, updated = $2 WHERE tenant_id = $1`,
}

const UNLIST: Statement = { text: 'DELETE FROM control.card_directory WHERE space = ANY ($1)' }

/** Closes the tenant for good. From then on, only the target may open it. */
export function leave(operator: Operator, run: MoveRun): Promise<void> {
  return operator.control.transaction(async (db) => {
    await lockRun(db, run, 'fenced')
    await db.query(UNLIST, [await listSpaces(db, run.tenantId)])
    await db.query(LEAVE, [run.tenantId, toTimestamp(operator.clock.machine())])
    await bumpRevision(db)
  })
}

const FORGET: Statement = { text: 'DELETE FROM control.tenant_moves WHERE tenant_id = $1' }

/** Ends a move that was given up. The tenant must be open. */
export function giveUp(operator: Operator, run: MoveRun): Promise<void> {
  return operator.control.transaction(async (db) => {
    await lockRun(db, run, 'copying')
    await db.query(FORGET, [run.tenantId])
    await bumpRevision(db)
  })
}
