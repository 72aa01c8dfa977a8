/** Records on the pass that its holder turned messages off or on. */
import type { Database, Statement } from '../../database/database.ts'
import { pipelined } from '../../database/pipelined.ts'
import { toTimestamp } from '../../database/types.ts'
import { collectEvents, emit } from '../../events/emit/emit.ts'
import { systemEntry } from '../../tenants/audit/entry.ts'
import { appendAudit } from '../../tenants/audit/queries.ts'
import { changeNow } from './changed.ts'
import type { OutsideScope } from './installs.ts'
import { NO_MOVE } from './moves.ts'
import { lockPasses, type PassRow } from './queries.ts'
import { showPass } from './view.ts'

const WRITE: Statement = {
  name: 'passes_write_opt_out',
  text: `UPDATE passes p SET messages_opted_out_at = $3, updated = $4, changed = $5, seen_revision = $6
          WHERE p.tenant_id = $1 AND p.id = $2`,
}

function writeOptOut(db: Database, tenantId: string, pass: PassRow): Promise<unknown> {
  const { id, messages_opted_out_at: at, updated, changed, seen_revision } = pass
  const times = [at === null ? null : toTimestamp(at), toTimestamp(updated), toTimestamp(changed)]
  return db.query(WRITE, [tenantId, id, ...times, seen_revision])
}

/**
 * Turns messages off or on. Call it last in the transaction: it locks the ends of the tenant's event sequence and audit
 * log.
 *
 * @returns whether deliveries may be due after the commit; undefined if the pass does not exist.
 */
export async function setOptedOut(
  scope: OutsideScope,
  passId: string,
  isOptedOut: boolean,
): Promise<boolean | undefined> {
  const { db, environment, pin, space, now } = scope
  const before = (await lockPasses(db, space, [passId])).get(passId)
  if (!before) return undefined
  if ((before.messages_opted_out_at !== null) === isOptedOut) return false
  const messages_opted_out_at = isOptedOut ? now : null
  const pass = { ...before, ...changeNow(before, now), messages_opted_out_at, updated: now }
  pipelined(writeOptOut(db, space, pass))
  const events = collectEvents({ tenantId: space, pin, now })
  const show = (each: PassRow) => ({ pass: showPass(each, scope) })
  emit(events, { type: 'pass.updated', data: show(pass), before: show(before), passMove: NO_MOVE })
  const due = events.write(db)
  pipelined(appendAudit(db, space, systemEntry(environment, 'pass.updated', passId, now)))
  return due
}
