/** Errors of single rows: a batch sets such a row aside with the reason, and goes on with the others. */
import { isUnavailable, isWorthRepeating, messageOf } from '../database/errors.ts'

/** Characters of a reason that are kept. */
const REASON_LENGTH = 300

/** The reason as stored and shown to operators. */
export const reasonOf = (error: unknown): string => messageOf(error).slice(0, REASON_LENGTH)

/** Whether an error is about the row that was worked on. A database that is away concerns every row. */
export function isOfRow(error: unknown): boolean {
  return !isUnavailable(error) && !isWorthRepeating(error)
}
