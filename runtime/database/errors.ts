/** SQLSTATE codes that callers distinguish (PostgreSQL manual, appendix A). */
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
export const PROTOCOL_VIOLATION = '08P01'
export const INVALID_PASSWORD = '28P01'
export const INVALID_AUTHORIZATION = '28000'
const FEATURE_NOT_SUPPORTED = '0A000'
const INVALID_STATEMENT_NAME = '26000'
const INTERNAL_ERROR = 'XX000'
const UNDEFINED_TABLE = '42P01'

/** The database cannot answer now; a later retry may succeed. Answered as 503. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/** A statement exceeded its time limit, or its lock wait did. Answered as 503. */
export class TookTooLong extends DatabaseUnavailable {
  override name = 'TookTooLong'
  /** SQLSTATE of the exceeded limit. */
  readonly code: string | undefined

  constructor(cause: Error) {
    super(cause.message, { cause })
    this.code = codeOf(cause)
  }
}

/**
 * A fact that the transaction relied on changed before the transaction wrote. The caller repeats the transaction, which
 * then reads the current state.
 */
export class Overtaken extends Error {
  override name = 'Overtaken'
}

/** Whether a failed transaction may succeed if the caller repeats it unchanged. */
export function isWorthRepeating(error: unknown): boolean {
  const code = codeOf(error)
  return error instanceof Overtaken || code === DEADLOCK_DETECTED || code === SERIALIZATION_FAILURE
}

/** System error codes of a refused, failed or lost connection. */
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

/** Statement timeouts and lock timeouts. */
const TIME_LIMITS = new Set([QUERY_CANCELED, LOCK_NOT_AVAILABLE])

/**
 * Connection exceptions (08), insufficient resources (53: disk full, out of memory, too many connections, configured
 * limit), server shutdown, crash or startup (57P01–57P05), idle-in-transaction timeout (25P03), and a server that
 * became read-only in a failover (25006).
 */
const UNAVAILABLE_STATES = /^(08...|53[0-4]00|57P0[1-5]|25P03|25006)$/

/** Messages of pg for the same failures when the error has no code. */
const CONNECTION_MESSAGES =
  /^(Connection terminated|timeout expired|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout|Cannot use a pool after calling end|The server does not support SSL|There was an error establishing an SSL|Received unexpected)/

/**
 * Messages of Citus, and of its libpq, when a worker node is lost during COMMIT. Citus reports them as internal errors
 * (XX000).
 */
const WORKER_LOST =
  /^(could not commit transaction for shard|failure on connection marked as essential|server closed the connection unexpectedly|could not (receive data from|send data to) server|no connection to the server|SSL (SYSCALL|connection) )/

/**
 * Messages of Citus when a shard was split or moved while the statement waited for it: the catalog of the coordinator (XX000)
 * or the worker no longer has the shard, whose number ends the name of the table. The next attempt finds the new shard.
 */
const SHARD_GONE =
  /^(could not find (valid entry|any shard placements) for shard|relation "\S+_[1-9]\d{5,}" does not exist)/

/** Returns the SQLSTATE or system code of an error, or undefined if it has none. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

/** Returns the name of the violated constraint, if the error names it. */
export function constraintOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('constraint' in error && typeof error.constraint === 'string') return error.constraint
  return ofShard(error, / constraint "(.+)_\d+"$/)
}

/** Returns the name of the table that the statement could not write, if the error names it. */
export function tableOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('table' in error && typeof error.table === 'string') return error.table
  return ofShard(error, / relation "(.+)_\d+" violates /)
}

/** Errors that Citus forwards from a worker carry only a message. Names in it end with the shard number. */
function ofShard(error: object, pattern: RegExp): string | undefined {
  return error instanceof Error ? pattern.exec(error.message)?.[1] : undefined
}

function isTimeLimit(error: unknown): boolean {
  return error instanceof TookTooLong || TIME_LIMITS.has(codeOf(error) ?? '')
}

/** Whether the error means that the database cannot answer now. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable || isTimeLimit(error)) return true
  const code = codeOf(error)
  if (code !== undefined && (CONNECTION_CODES.has(code) || UNAVAILABLE_STATES.test(code))) return true
  if (!(error instanceof Error)) return false
  if (code === INTERNAL_ERROR || code === UNDEFINED_TABLE)
    return WORKER_LOST.test(error.message) || SHARD_GONE.test(error.message)
  return CONNECTION_MESSAGES.test(error.message)
}

/** Whether a retry may succeed. */
export function mayPass(error: unknown): boolean {
  return isUnavailable(error) || isWorthRepeating(error)
}

/**
 * Turns a lost or refused connection into `DatabaseUnavailable` and an exceeded time limit into `TookTooLong`, each
 * with its cause. Returns every other error unchanged.
 */
export function translateError(error: Error): Error {
  if (isTimeLimit(error)) return error instanceof TookTooLong ? error : new TookTooLong(error)
  if (error instanceof DatabaseUnavailable || !isUnavailable(error)) return error
  return new DatabaseUnavailable(`the database is unavailable: ${messageOf(error)}`, { cause: error })
}

/**
 * Citus resolves a distributed deadlock by canceling one transaction, and reports it like a cancellation by an
 * operator. Turns that error into a deadlock error; returns every other error unchanged.
 */
export function readCancellation(error: Error): Error {
  const isOne = codeOf(error) === QUERY_CANCELED && error.message.endsWith('due to user request')
  return isOne
    ? Object.assign(new Error(error.message, { cause: error }), { code: DEADLOCK_DETECTED })
    : error
}

const SQLSTATE = /^[0-9A-Z]{5}$/

/**
 * Data exceptions, constraint violations and conditions raised by functions. They depend on the rows, so other rows may
 * succeed.
 */
const STATES_OF_ROWS = /^(22|23|44|P0)/

/** Whether the failure depends on the processed rows: it repeats for these rows but not for others. */
export function liesInRows(error: unknown): boolean {
  if (isUnavailable(error) || isWorthRepeating(error)) return false
  const code = codeOf(error)
  return code === undefined || !SQLSTATE.test(code) || STATES_OF_ROWS.test(code)
}

/** Maximum length of a stored reason, in characters. */
const MAX_REASON = 500

/**
 * Returns the reason why a row failed, as stored and shown to operators. Replaces NUL, which PostgreSQL text cannot
 * hold.
 */
export function reasonOf(error: unknown): string {
  return messageOf(error).replaceAll('\0', '�').slice(0, MAX_REASON)
}

/**
 * Returns the message of an error. If a host name has several addresses, Node throws an AggregateError without a
 * message; its errors are joined.
 */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ')
  return error instanceof Error ? error.message : String(error)
}

/** Whether the connection must be closed: it is lost, or its cached plans or statement names are no longer valid. */
export function spoilsConnection(error: unknown): boolean {
  if (isTimeLimit(error)) return false
  const code = codeOf(error)
  return isUnavailable(error) || code === FEATURE_NOT_SUPPORTED || code === INVALID_STATEMENT_NAME
}
