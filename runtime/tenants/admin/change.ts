import type { Database } from '../../database/database.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { bumpRevision } from '../../database/revision.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { appendAuditIn } from '../audit/queries.ts'
import type { Clock } from '../clock/clock.ts'

export interface Operator {
  /** The owner's pool. */
  readonly control: Pool
  readonly clock: Clock
  readonly pepper: string
  /** The member who acts through the dashboard; absent for the operator of the service. */
  readonly member?: { readonly id: string; readonly ip: string } | undefined
}

/** An action that cannot be performed. The message says what is wrong and, if useful, what to do next. */
export class ControlError extends Error {
  override name = 'ControlError'
  readonly kind: 'not_found' | 'invalid' | 'conflict' | 'refused' | 'broken'

  constructor(kind: ControlError['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** An operator's change to a tenant, for its audit log. */
export interface OperatorNote {
  readonly tenantId: string
  /** Absent if the change concerns the account. Both environments' logs then get an entry. */
  readonly environment?: Environment
  /** The resource and the action, such as `key.revoked`. */
  readonly action: string
  readonly targetId: string
}

/**
 * Changes the control schema in one transaction, and makes every node drop its cached copy.
 *
 * @param work calls `note` for each change that audit logs must record.
 */
export function change<T>(
  operator: Operator,
  work: (tx: Database, note: (note: OperatorNote) => void) => Promise<T>,
): Promise<T> {
  return operator.control.transaction(async (tx) => {
    const notes: OperatorNote[] = []
    const value = await work(tx, (note) => void notes.push(note))
    await bumpRevision(tx)
    for (const note of notes) await writeNote(tx, operator, note)
    return value
  })
}

/**
 * Writes a note into the audit logs, each entry with the time of its environment's clock. A transaction that also
 * locks the control revision must do that first, as requests that change the account do.
 */
export async function writeNote(
  tx: Database,
  { clock, member }: Operator,
  note: OperatorNote,
): Promise<void> {
  const { tenantId, action, targetId } = note
  for (const environment of note.environment ? [note.environment] : ENVIRONMENTS) {
    const created = clock.service(environment)
    await appendAuditIn(tx, environment, tenantId, {
      id: newId('aud', created),
      environment: note.environment ?? null,
      actorType: member ? 'member' : 'operator',
      actorId: member?.id ?? null,
      action,
      targetId,
      outcome: 'succeeded',
      requestId: null,
      ip: member?.ip ?? null,
      version: null,
      created,
    })
  }
}

/** Formats milliseconds as ISO 8601 in UTC with milliseconds, as in the API. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null): string | null
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
