/** Resolves exceptions: by another attempt, or by an operator's note. */
import type { Database, Statement } from '../../database/database.ts'
import { toTimestamp } from '../../database/types.ts'
import type { Environment } from '../../platform/environment.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import type { ExceptionReason } from '../network/exceptions.ts'
import type { FoundCard } from '../network/network.ts'
import { type ApplyParts, applyLines, type LineOutcome } from './apply-lines.ts'
import type { ClearingFileRow } from './queries.ts'
import { isClearingKind, type LineMessage } from './records.ts'

export interface RetryParts extends ApplyParts {
  readonly findByDigest: (environment: Environment, digest: Buffer) => Promise<FoundCard | undefined>
}

/** An exception as stored. */
export interface ExceptionRow {
  readonly environment: Environment
  readonly id: string
  readonly file_id: string | null
  readonly line: number | null
  /** ISO 8601 date of the file. */
  readonly business_date: string | null
  readonly message_id: string | null
  readonly transaction_id: string | null
  readonly kind: string | null
  readonly card_digest: Buffer | null
  readonly card_last4: string | null
  readonly reason: ExceptionReason
  readonly field: string | null
  readonly detail: string
  readonly message: Readonly<Record<string, unknown>> | null
  readonly created: number
  readonly resolved: number | null
  readonly note: string | null
}

export const EXCEPTION_COLUMNS = `e.environment, e.id, e.file_id, e.line, f.business_date::text, e.message_id, e.transaction_id, e.kind,
  e.card_digest, e.card_last4, e.reason, e.field, e.detail, e.message, e.created, e.resolved, e.note`

export const EXCEPTION_TABLES = `control.network_exceptions e
  LEFT JOIN control.network_files f ON f.environment = e.environment AND f.id = e.file_id`

const WAITING: Statement = {
  text: `SELECT ${EXCEPTION_COLUMNS} FROM ${EXCEPTION_TABLES}
          WHERE e.environment = $1 AND e.file_id = $2 AND e.line > $3 AND e.reason = 'waiting' AND e.resolved IS NULL
          ORDER BY e.line LIMIT $4`,
}

const STEP = 500

/** Ends the exceptions of lines that waited for a clearing which the file has brought since. */
export async function retryWaiting(
  parts: RetryParts,
  { environment, id }: Pick<ClearingFileRow, 'environment' | 'id'>,
): Promise<void> {
  for (let after = 0; ; ) {
    const { rows } = await parts.database.control.query<ExceptionRow>(WAITING, [environment, id, after, STEP])
    for (const row of rows) await retryException(parts, row)
    if (rows.length < STEP) return
    after = rows.at(-1)!.line!
  }
}

const RESOLVE: Statement = {
  text: `UPDATE control.network_exceptions e SET resolved = $3, note = $4
          WHERE e.environment = $1 AND e.id = $2 AND e.resolved IS NULL`,
}

/** Marks an exception as resolved. Returns false if it was resolved before. @param note what was done. */
export async function resolveException(
  control: Database,
  clock: Pick<Clock, 'machine'>,
  { environment, id }: Pick<ExceptionRow, 'environment' | 'id'>,
  note: string,
): Promise<boolean> {
  const values = [environment, id, toTimestamp(clock.machine()), note]
  return (await control.query(RESOLVE, values)).count > 0
}

/** Applies the message of an exception again, and resolves the exception if it takes effect. */
export async function retryException(parts: RetryParts, row: ExceptionRow): Promise<LineOutcome> {
  const { environment, kind, card_digest: digest } = row
  const { interchange_category: category, ...message } = row.message ?? {}
  const card = digest ? await parts.findByDigest(environment, digest) : undefined
  if (!isClearingKind(kind) || !message)
    return { reason: row.reason, detail: 'No message is stored to apply.' }
  if (!card) return { reason: 'unknown_card', detail: 'No card has this number.', field: 'card_number' }
  const line = row.line ?? 0
  // The card is known by its digest, so nothing reads the number.
  const content = { kind, message: { ...message, card_number: '' } } as LineMessage
  const source = {
    environment,
    fileId: row.file_id ?? row.id,
    businessDate: row.business_date ?? String(message.sent_at).slice(0, 10),
  }
  const outcomes = await applyLines(parts, source, [
    { line, content, category: typeof category === 'string' ? category : undefined, ...card },
  ])
  const outcome = outcomes.get(line)!
  if (outcome === 'applied')
    await resolveException(
      parts.database.control,
      parts.clock,
      row,
      'The message took effect in another attempt.',
    )
  return outcome
}
