import type { Database } from '../../database/database.ts'
import type { Pool } from '../../database/pool/pool.ts'
import { bumpRevision } from '../../database/revision.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { appendAuditIn } from '../audit/queries.ts'
import type { Clock } from '../clock/clock.ts'

/** What the operator's actions work with. */
export interface Operator {
  /** The owner's pool. */
  readonly control: Pool
  readonly clock: Clock
  readonly pepper: string
  /** The member who does it on a page; absent: whoever operates the service. */
  readonly member?: { readonly id: string; readonly ip: string } | undefined
}

/** An action that cannot be done as asked; the message says what is wrong and, where it helps, what to do. */
export class ControlError extends Error {
  override name = 'ControlError'
  readonly kind: 'not_found' | 'invalid' | 'conflict' | 'refused' | 'broken'

  constructor(kind: ControlError['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.kind = kind
  }
}

/** What the operator did to a tenant, as its audit log tells it. */
export interface OperatorNote {
  readonly tenantId: string
  /** Absent: it concerns the account, and the logs of both environments tell of it. */
  readonly environment?: Environment
  /** The resource and what was done to it: `key.revoked`. */
  readonly action: string
  readonly targetId: string
}

/**
 * Runs a change of the control schema in one transaction and makes every node drop what it has cached of it.
 *
 * @param work calls `note` for what the audit logs are to tell.
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
 * Writes a note into the audit logs, each environment's entry by its own clock. What locks the revision too locks it before:
 * so do requests that change the account.
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

/** ISO 8601, UTC, milliseconds, as in the API. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null): string | null
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
