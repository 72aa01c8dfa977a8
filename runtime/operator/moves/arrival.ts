/** The target of a move: takes in the rows of a tenant while it is closed, and opens it. */
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { bumpRevision } from '../../database/revision.ts'
import { toTimestamp } from '../../database/types.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { ControlError, type Operator, writeNote } from '../../tenants/admin/change.ts'
import type { CopyTarget, Resealing } from './copy.ts'
import { AS_TEXT } from './rows.ts'
import { type Kept, lockRun, type MoveRun, reopen, retire } from './source.ts'
import { listMovedTables, listSpaces, type MovedTable, type MovedTables, ownersOf } from './tables.ts'

const FIND: Statement = {
  text: `SELECT m.state, t.id IS NOT NULL AS has_rows
           FROM (VALUES ($1::text)) AS given (id)
           LEFT JOIN control.tenant_moves m ON m.tenant_id = given.id
           LEFT JOIN control.tenants t ON t.id = given.id`,
}

const BEGIN: Statement = {
  text: `INSERT INTO control.tenant_moves AS m (tenant_id, state, run, updated) VALUES ($1, 'arriving', $2, $3)
         ON CONFLICT (tenant_id) DO UPDATE
            SET state = 'arriving', run = excluded.run, kept = NULL, updated = excluded.updated,
                returns = m.returns OR m.state = 'moved',
                left_by = CASE WHEN $4 AND m.state = 'arriving' THEN m.left_by END
          WHERE m.state IN ('arriving', 'moved')`,
}

/**
 * Begins an arrival, or continues it. A tenant that has moved away from here may return.
 *
 * @param isConfirmed whether the source is closed for good, because an earlier run has found both the same.
 * @throws ControlError `conflict` if the target has the tenant.
 */
export function beginArrival(
  { control, clock }: Operator,
  { tenantId, id }: MoveRun,
  isConfirmed = false,
): Promise<void> {
  return control.transaction(async (db) => {
    const { rows } = await db.query<{ state: string | null; has_rows: boolean }>(FIND, [tenantId])
    const { state, has_rows } = rows[0]!
    const isFree = state === 'arriving' || state === 'moved' || (state === null && !has_rows)
    const values = [tenantId, id, toTimestamp(clock.machine()), isConfirmed]
    const begun = isFree && (await db.query(BEGIN, values)).count > 0
    if (!begun) throw new ControlError('conflict', `the target already has the tenant ${tenantId}`)
    await bumpRevision(db)
  })
}

/** Returns whether the tenant has arrived and is open. */
export async function hasArrived({ control }: Pick<Operator, 'control'>, tenantId: string): Promise<boolean> {
  const { rows } = await control.query<{ state: string | null }>(FIND, [tenantId])
  return rows[0]!.state === 'arrived'
}

const HOLD: Statement = {
  text: `SELECT FROM control.tenant_moves WHERE tenant_id = $1 AND run = $2 AND state = 'arriving' FOR SHARE`,
}

/**
 * Returns where rounds write. Each transaction holds the move, so that an earlier run that is still alive cannot write
 * after a later one has opened the tenant.
 */
export function arrivalOf({ control }: Operator, { tenantId, id }: MoveRun, reseal: Resealing): CopyTarget {
  return {
    reseal,
    transaction: (work) =>
      control.transaction(async (db) => {
        if ((await db.query(HOLD, [tenantId, id])).count === 0)
          throw new ControlError(
            'conflict',
            `a different run of the command moves ${tenantId} now: leave it to that run`,
          )
        pipelined(db.query(AS_TEXT))
        return work(db)
      }),
  }
}

const CONFIRM: Statement = {
  text: 'UPDATE control.tenant_moves SET left_by = run, updated = $2 WHERE tenant_id = $1',
}

/** Notes that the target has the same rows as the source, which then leaves. */
export async function confirmArrival({ control, clock }: Operator, run: MoveRun): Promise<void> {
  await control.transaction(async (db) => {
    await lockRun(db, run, 'arriving')
    await db.query(CONFIRM, [run.tenantId, toTimestamp(clock.machine())])
  })
}

/** Keeps workers away from spaces before their rows arrive. */
export async function closeSpaces(
  { control, clock }: Operator,
  { tenantId }: MoveRun,
  spaces: readonly string[],
): Promise<void> {
  for (const environment of ENVIRONMENTS) {
    for (const space of environment === 'live' ? [tenantId] : spaces)
      await control.query(retire(environment), [space, toTimestamp(clock.machine())])
  }
}

const LISTED: Statement = {
  text: 'SELECT card_id FROM control.card_directory WHERE environment = $1 AND space = $2',
}

const numbersIn = (environment: Environment): Statement => ({
  text: `SELECT card_id, fingerprint FROM ${environment}.card_numbers WHERE tenant_id = $1 ORDER BY card_id`,
})

const LIST: Statement = {
  text: `INSERT INTO control.card_directory (environment, digest, space, card_id)
         SELECT $1, n.digest, $2, n.card_id FROM unnest($3::bytea[], $4::text[]) AS n (digest, card_id)
         ON CONFLICT DO NOTHING`,
}

/** The worker of the directory reports the others, whose numbers different cards have here. */
const noteListed = (environment: Environment): Statement => ({
  text: `UPDATE ${environment}.card_numbers SET listed = CASE WHEN card_id = ANY ($2) THEN true END WHERE tenant_id = $1`,
})

/** Enters the cards of a space in the directory, so that the network finds them when the tenant is open. */
async function listCards(db: Database, environment: Environment, space: string): Promise<void> {
  const { rows } = await db.query<{ card_id: string; fingerprint: Buffer }>(numbersIn(environment), [space])
  if (rows.length === 0) return
  const digests = rows.map(({ fingerprint }) => fingerprint)
  await db.query(LIST, [environment, space, digests, rows.map(({ card_id }) => card_id)])
  const listed = await db.query<{ card_id: string }>(LISTED, [environment, space])
  await db.query(noteListed(environment), [space, listed.rows.map(({ card_id }) => card_id)])
}

const ARRIVE: Statement = {
  text: `UPDATE control.tenant_moves SET state = 'arrived', kept = NULL, returns = false, updated = $2 WHERE tenant_id = $1`,
}

/** Opens the tenant at the target. Call this only when the source is closed for good. */
export function arrive(operator: Operator, run: MoveRun, kept: Kept, tables: MovedTables): Promise<void> {
  const { tenantId } = run
  return operator.control.transaction(async (db) => {
    await lockRun(db, run, 'arriving')
    const spaces = await listSpaces(db, tenantId)
    for (const environment of ENVIRONMENTS) {
      for (const space of environment === 'live' ? [tenantId] : spaces)
        await listCards(db, environment, space)
    }
    await reopen(db, run, kept, spaces, tables)
    await db.query(ARRIVE, [tenantId, toTimestamp(operator.clock.machine())])
    await bumpRevision(db)
    await writeNote(db, operator, { tenantId, action: 'tenant.moved', targetId: tenantId })
  })
}

async function empty(
  db: Database,
  table: MovedTable,
  tenantId: string,
  spaces: readonly string[],
): Promise<void> {
  if (table.name === 'oauth_clients') return
  for (const owner of ownersOf(table, tenantId, spaces))
    await db.query({ text: `DELETE FROM ${table.schema}."${table.name}" t WHERE ${table.where}` }, [owner])
}

const FORGET: Statement = { text: 'DELETE FROM control.tenant_moves WHERE tenant_id = $1' }

const RETURN: Statement = {
  text: `UPDATE control.tenant_moves SET state = 'moved', returns = false WHERE tenant_id = $1 AND returns`,
}

const forgetSpaces = (environment: Environment): Statement => ({
  text: `DELETE FROM ${environment}.wiped_spaces WHERE tenant_id = ANY ($1)`,
})

/** Deletes all rows of a tenant, except the tenant itself and its move. */
export async function discard(db: Database, tenantId: string, { copied }: MovedTables): Promise<void> {
  const spaces = await listSpaces(db, tenantId)
  for (const table of copied.toReversed())
    if (table.name !== 'tenants') await empty(db, table, tenantId, spaces)
}

const DELETE_TENANT: Statement = { text: 'DELETE FROM control.tenants WHERE id = $1' }

/** Gives an arrival up. */
export function cancelArrival(operator: Operator, run: MoveRun, tables: MovedTables): Promise<void> {
  return operator.control.transaction(async (db) => {
    await lockRun(db, run, 'arriving')
    if ((await db.query(RETURN, [run.tenantId])).count > 0) return
    const spaces = await listSpaces(db, run.tenantId)
    await discard(db, run.tenantId, tables)
    await db.query(DELETE_TENANT, [run.tenantId])
    for (const environment of ENVIRONMENTS) await db.query(forgetSpaces(environment), [spaces])
    await db.query(FORGET, [run.tenantId])
    await bumpRevision(db)
  })
}

const FORGET_DIRECTORY: Statement = { text: 'DELETE FROM control.card_directory WHERE space = ANY ($1)' }

const ANONYMIZE: Statement = {
  text: `UPDATE control.tenants SET name = 'moved', billing_email = NULL WHERE id = $1`,
}

const LOCK_MOVED: Statement = {
  text: `SELECT FROM control.tenant_moves WHERE tenant_id = $1 AND state = 'moved' FOR UPDATE`,
}

/**
 * Deletes the rows of a tenant that has moved away. Its identifier stays, so that it can return.
 *
 * @throws ControlError `refused` if the tenant has not moved away.
 */
export function forgetTenant(
  operator: Operator,
  tenantId: string,
): Promise<{ readonly tenant_id: string; readonly forgotten: true }> {
  return operator.control.transaction(async (db) => {
    if ((await db.query(LOCK_MOVED, [tenantId])).count === 0)
      throw new ControlError(
        'refused',
        `${tenantId} has not moved away from this installation: move it first`,
      )
    const spaces = await listSpaces(db, tenantId)
    await discard(db, tenantId, await listMovedTables(db))
    await db.query(FORGET_DIRECTORY, [spaces])
    await db.query(ANONYMIZE, [tenantId])
    await bumpRevision(db)
    return { tenant_id: tenantId, forgotten: true }
  })
}
