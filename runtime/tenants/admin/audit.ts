import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import { entryHash } from '../audit/entry.ts'
import { type AuditRow, readAuditChain, readAuditHead } from '../audit/queries.ts'
import { ControlError, type Operator } from './change.ts'
import { requireTenant } from './tenants.ts'

/** Entries read at once. */
const BATCH = 1000

export interface VerifiedChain {
  readonly tenant_id: string
  readonly environment: Environment
  readonly entries: number
  /** So many of them were looked at, up to the last. */
  readonly checked: number
  /** Hash of the last entry: kept elsewhere, it shows later that nothing before it was taken away. Null: no entry. */
  readonly head: string | null
}

/**
 * Checks the audit log of a tenant's environment: that numbers have no gap, that every entry fits its hash and follows on
 * the one before, and that the chain ends where its end was noted. Entries that come meanwhile are left for the next time.
 *
 * @param newest so many entries alone are looked at; absent: all.
 * @param contains a head that was seen before and must still be among them.
 * Throws `broken` naming the first entry that does not fit.
 */
export async function verifyAudit(
  operator: Operator,
  tenantId: string,
  environment: Environment,
  {
    contains,
    newest = Number.POSITIVE_INFINITY,
  }: { readonly contains?: string | undefined; readonly newest?: number } = {},
): Promise<VerifiedChain> {
  const { control } = operator
  await requireTenant(control, tenantId)
  const end = await readAuditHead(control, environment, tenantId)
  const before = Math.max(0, (end?.sequence ?? 0) - newest)
  let last: AuditLink | undefined = before === 0 ? undefined : { sequence: before, hash: undefined }
  let isFound = contains === undefined
  for await (const row of readRows(control, environment, tenantId, before)) {
    if (end && row.sequence > end.sequence) break
    const fault = faultOf(row, last)
    if (fault !== undefined) throw broken(`entry ${row.sequence} (${row.id}) ${fault}`)
    if (row.hash === contains) isFound = true
    last = row
  }
  if (last?.sequence !== end?.sequence) {
    throw broken(`it ends with entry ${last?.sequence ?? 0}, its end was noted as ${end?.sequence ?? 0}`)
  }
  if (last?.hash !== end?.hash) throw broken(`the hash of its last entry is not the one that was noted`)
  if (!isFound) throw broken(`it does not contain ${contains}`)
  const entries = last?.sequence ?? 0
  return { tenant_id: tenantId, environment, entries, checked: entries - before, head: last?.hash ?? null }
}

/** An entry that another follows on. Its hash is undefined where it was not looked at. */
interface AuditLink {
  readonly sequence: number
  readonly hash: string | undefined
}

async function* readRows(
  control: Database,
  environment: Environment,
  tenantId: string,
  before: number,
): AsyncGenerator<AuditRow> {
  for (let after = before; ; ) {
    const rows = await readAuditChain(control, environment, tenantId, after, BATCH)
    yield* rows
    const last = rows.at(-1)
    if (!last) return
    after = last.sequence
  }
}

function faultOf(row: AuditRow, before: AuditLink | undefined): string | undefined {
  const expected = (before?.sequence ?? 0) + 1
  if (row.sequence !== expected) return `comes where entry ${expected} is missing`
  const isKnown = before === undefined || before.hash !== undefined
  if (isKnown && row.previous_hash !== (before?.hash ?? null)) return 'does not follow on the entry before it'
  const hash = entryHash(
    {
      id: row.id,
      environment: row.environment,
      actorType: row.actor_type,
      actorId: row.actor_id,
      action: row.action,
      targetId: row.target_id,
      outcome: row.outcome,
      requestId: row.request_id,
      ip: row.ip,
      version: row.version,
      created: row.created,
    },
    row.previous_hash,
  )
  return hash === row.hash ? undefined : 'does not fit its hash: it was changed'
}

function broken(what: string): ControlError {
  return new ControlError('broken', `the audit log was tampered with: ${what}`)
}
