/** SQLSTATEs that callers tell apart (PostgreSQL manual, appendix A). */
export const UNIQUE_VIOLATION = '23505'
export const NOT_NULL_VIOLATION = '23502'
export const CHECK_VIOLATION = '23514'
const SERIALIZATION_FAILURE = '40001'
export const DEADLOCK_DETECTED = '40P01'
export const LOCK_NOT_AVAILABLE = '55P03'
export const IN_FAILED_TRANSACTION = '25P02'
export const DUPLICATE_OBJECT = '42710'
export const INSUFFICIENT_PRIVILEGE = '42501'
export const DISK_FULL = '53100'
export const UNDEFINED_DATABASE = '3D000'
export const INVALID_PASSWORD = '28P01'
export const INVALID_AUTHORIZATION = '28000'
const FEATURE_NOT_SUPPORTED = '0A000'
const INVALID_STATEMENT_NAME = '26000'
const INTERNAL_ERROR = 'XX000'

/** No answer can be had from the database now; trying later may help. Answered as 503. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** A statement was given up because it, or its wait for a lock, came to its time limit. Answered as 503. */
export class TookTooLong extends DatabaseUnavailable {
  override name = 'TookTooLong'
  /** SQLSTATE of the limit. */
  readonly code: string | undefined

  constructor(cause: Error) {
    super(cause.message, { cause })
    this.code = codeOf(cause)
  }
}

/** What a transaction was decided by has changed before it was written: it is to be done again, and finds what there is now. */
export class Overtaken extends Error {
  override name = 'Overtaken'
}

/** Whether a transaction that failed may succeed when it is done again, as it was asked for. */
export function isWorthRepeating(error: unknown): boolean {
  const code = codeOf(error)
  return error instanceof Overtaken || code === DEADLOCK_DETECTED || code === SERIALIZATION_FAILURE
}

/** Codes of the operating system under which a connection was not made or was lost. */
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  'EADDRNOTAVAIL',
])

const QUERY_CANCELED = '57014'

/** Statements that took too long or waited too long for a lock. */
const TIME_LIMITS = new Set([QUERY_CANCELED, LOCK_NOT_AVAILABLE])

/**
 * Connection exceptions (08), insufficient resources (53: disk full, out of memory, too many connections, a limit of the
 * configuration), shut down, crashed or starting up (57P01–57P05), a connection ended for idling in a transaction (25P03), a
 * server that became read-only in a failover (25006).
 */
const UNAVAILABLE_STATES = /^(08...|53[0-4]00|57P0[1-5]|25P03|25006)$/

/** How pg names the same losses when no code came with them. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout|Cannot use a pool after calling end|The server does not support SSL|There was an error establishing an SSL|Received unexpected)/

/** The words of Citus, and of libpq in it, for a worker that is lost during COMMIT: they come under the code of an internal error. */
const WORKER_LOST =
  /^(could not commit transaction for shard|failure on connection marked as essential|server closed the connection unexpectedly|could not (receive data from|send data to) server|no connection to the server|SSL (SYSCALL|connection) )/

/** The SQLSTATE or system code of an error; undefined for anything else. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** The constraint that a statement violated, where it is named. */
export function constraintOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('constraint' in error && typeof error.constraint === 'string') return error.constraint
  return ofShard(error, / constraint "(.+)_\d+"$/)
}

/** The table whose row a statement could not write, where it is named. */
export function tableOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('table' in error && typeof error.table === 'string') return error.table
  return ofShard(error, / relation "(.+)_\d+" violates /)
}

/** What Citus passes on of an error has a message only, in which the names end with the number of the shard. */
function ofShard(error: object, pattern: RegExp): string | undefined {
  return error instanceof Error ? pattern.exec(error.message)?.[1] : undefined
}

function isTimeLimit(error: unknown): boolean {
  return error instanceof TookTooLong || TIME_LIMITS.has(codeOf(error) ?? '')
}

/** Whether the error means that no answer can be had from the database now. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable || isTimeLimit(error)) return true
  const code = codeOf(error)
  if (code !== undefined && (CONNECTION_CODES.has(code) || UNAVAILABLE_STATES.test(code))) return true
  if (!(error instanceof Error)) return false
  return (
    CONNECTION_MESSAGES.test(error.message) || (code === INTERNAL_ERROR && WORKER_LOST.test(error.message))
  )
}

/** Whether the same may succeed when it is tried again. */
export function mayPass(error: unknown): boolean {
  return isUnavailable(error) || isWorthRepeating(error)
}

/**
 * A lost or refused connection becomes `DatabaseUnavailable`, what came to a time limit `TookTooLong`, with its cause; every
 * other error stays what it is.
 */
export function translateError(error: Error): Error {
  if (isTimeLimit(error)) return error instanceof TookTooLong ? error : new TookTooLong(error)
  if (error instanceof DatabaseUnavailable || !isUnavailable(error)) return error
  return new DatabaseUnavailable(`the database is unavailable: ${messageOf(error)}`, { cause: error })
}

/**
 * Of transactions that wait for each other Citus cancels one, and what is told of that is a cancellation like an operator's:
 * it becomes the deadlock that it is. Every other error stays what it is.
 */
export function readCancellation(error: Error): Error {
  const isOne = codeOf(error) === QUERY_CANCELED && error.message.endsWith('due to user request')
  return isOne
    ? Object.assign(new Error(error.message, { cause: error }), { code: DEADLOCK_DETECTED })
    : error
}

const SQLSTATE = /^[0-9A-Z]{5}$/

/** Data exceptions, violated constraints and conditions that a function raises: other rows do not meet them. */
const STATES_OF_ROWS = /^(22|23|44|P0)/

/** Whether what failed lies in the rows that were worked on, so that it fails again for these and not for others. */
export function liesInRows(error: unknown): boolean {
  if (isUnavailable(error) || isWorthRepeating(error)) return false
  const code = codeOf(error)
  return code === undefined || !SQLSTATE.test(code) || STATES_OF_ROWS.test(code)
}

/** Characters of a reason that are kept. */
const MAX_REASON = 500

/** Why a row failed, as it is stored and shown to operators. PostgreSQL's text holds no NUL. */
export function reasonOf(error: unknown): string {
  return messageOf(error).replaceAll('\0', '�').slice(0, MAX_REASON)
}

/** Node reports a host name with several addresses as an AggregateError without words of its own. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** Whether the connection is lost, or its plans or names are of no more use, so that it has to go. */
export function spoilsConnection(error: unknown): boolean {
  if (isTimeLimit(error)) return false
  const code = codeOf(error)
  return isUnavailable(error) || code === FEATURE_NOT_SUPPORTED || code === INVALID_STATEMENT_NAME
}
