import type { Database } from '../../database/database.ts'
import type { Environment } from '../../platform/environment.ts'
import { entryHash } from '../audit/entry.ts'
import { type AuditRow, readAuditChain, readAuditHead } from '../audit/queries.ts'
import { ControlError, type Operator } from './change.ts'
import { requireTenant } from './tenants.ts'

const BATCH = 1000

/**
 * Owner of the log of changes to card processors, in each environment. It is not a tenant, so no tenant can read the
 * log.
 */
export const NETWORK_AUDIT = 'network'

export interface VerifiedChain {
  readonly tenant_id: string
  readonly environment: Environment
  readonly entries: number
  /** Number of entries that were checked, up to the last one. */
  readonly checked: number
  /**
   * Hash of the last entry; null if there are no entries. An operator who stores it elsewhere can detect later that
   * entries were removed.
   */
  readonly head: string | null
}

/**
 * Verifies the audit log of a tenant, or of `network`, in one environment: numbers have no gaps, every entry matches its hash and links
 * to the previous entry, and the chain ends at its recorded head. Ignores entries that are written during the check.
 *
 * @param newest number of entries to check, from the end. Default: all.
 * @param contains hash of an earlier head, which must still be in the log.
 * @throws ControlError `broken`, which names the first entry that does not match.
 */
export async function verifyAudit(
  operator: Pick<Operator, 'control'>,
  tenantId: string,
  environment: Environment,
  {
    contains,
    newest = Number.POSITIVE_INFINITY,
  }: { readonly contains?: string | undefined; readonly newest?: number } = {},
): Promise<VerifiedChain> {
  const { control } = operator
  if (tenantId !== NETWORK_AUDIT) await requireTenant(control, tenantId)
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
    throw broken(`the last entry is ${last?.sequence ?? 0}, but the recorded head is ${end?.sequence ?? 0}`)
  }
  if (last?.hash !== end?.hash) throw broken('the hash of the last entry differs from the recorded head')
  if (!isFound) throw broken(`no entry has the hash ${contains}`)
  const entries = last?.sequence ?? 0
  return { tenant_id: tenantId, environment, entries, checked: entries - before, head: last?.hash ?? null }
}

/** A link of the chain. The hash is undefined if the entry was not read. */
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
  if (row.sequence !== expected) return `follows a gap: entry ${expected} is missing`
  const isKnown = before === undefined || before.hash !== undefined
  if (isKnown && row.previous_hash !== (before?.hash ?? null)) return 'does not link to the previous entry'
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
  return hash === row.hash ? undefined : 'does not match its hash, so it was changed'
}

function broken(what: string): ControlError {
  return new ControlError('broken', `the audit log was tampered with: ${what}`)
}
