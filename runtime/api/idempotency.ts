import { hash } from 'node:crypto'
import type { Database, Statement } from '../database/database.ts'
import { pipelined } from '../database/pipelined.ts'
import { waitForFlush } from '../database/pool/flusher.ts'
import { sweepOldest } from '../database/sweep.ts'
import { toTimestamp } from '../database/types.ts'
import { ApiError } from './errors/errors.ts'
import { type ApiCall, type ApiService, databaseOf, type WrittenReply } from './exchange.ts'
import { canonicalJson } from './json/canonical-json.ts'

/** How long a response is stored, in milliseconds of service time. */
export const STORED_FOR_MS = 24 * 3_600_000

/** Retry delay for a client whose first request is still in progress. */
const RETRY_MS = 1000

/** An idempotency key, and the request that it belongs to. */
export interface ClaimedKey {
  readonly key: string
  /** SHA-256 of the request, in the caller's version. */
  readonly fingerprint: Buffer
}

/**
 * Returns the claim of a request; undefined without an Idempotency-Key. Call this before the request is translated.
 */
export function claimOf(call: ApiCall): ClaimedKey | undefined {
  if (call.idempotencyKey === undefined) return undefined
  return { key: call.idempotencyKey, fingerprint: fingerprintOf(call) }
}

/** Returns the SHA-256 of the request's method, path, parameters and body, in the caller's version. */
export function fingerprintOf({ route, pathParameters, query, body }: ApiCall): Buffer {
  const { method, path } = route.operation
  return hash('sha256', canonicalJson([method, path, pathParameters, query, body ?? null]), 'buffer')
}

/**
 * Claims the key for this transaction. Returns the response that is already stored for it, if any.
 *
 * @param waits whether to wait for a concurrent request that holds the key. A request that resumes after a pause
 * waits.
 * @throws ApiError `idempotency_in_progress` if a concurrent request holds the key, and `idempotency_key_reused` if
 * the key belongs to a different request.
 */
export async function claim(
  db: Database,
  service: ApiService,
  { credential, now }: ApiCall,
  claimed: ClaimedKey,
  waits = false,
): Promise<WrittenReply | undefined> {
  const { tenant, space } = credential
  if (waits) pipelined(db.query(WAIT, [lockName(service.environment, space, claimed.key)]))
  const { mine, stored } = await claimKey(db, service.environment, space, claimed.key)
  if (stored && stored.created > now - STORED_FOR_MS) {
    waitForFlush(db)
    return replay(stored, claimed, service, tenant.id)
  }
  if (!mine) throw inProgress()
  if (stored) pipelined(forgetAnswer(db, space, claimed.key, now - STORED_FOR_MS))
  return undefined
}

/**
 * Returns the response that a concurrent request stored. The conflict has rolled back this request's own transaction.
 */
export async function replayStored(
  service: ApiService,
  call: ApiCall,
  claimed: ClaimedKey,
): Promise<WrittenReply> {
  const { tenant, space } = call.credential
  const stored = await readAnswer(databaseOf(call, service).flushed, space, claimed.key)
  if (!stored) throw inProgress()
  return replay(stored, claimed, service, tenant.id)
}

function replay(
  stored: StoredResponse,
  claimed: ClaimedKey,
  service: ApiService,
  tenantId: string,
): WrittenReply {
  if (!stored.fingerprint.equals(claimed.fingerprint)) {
    throw keyReused()
  }
  const { status, body, sealed } = stored
  const text = sealed ? service.seals.unseal(sealed, sealContext(service, tenantId, claimed.key)) : body!
  return { status, body: undefined, text, replayed: true }
}

/** Seals a response that may contain a secret. If the request is repeated, its caller sees the secret again. */
export function sealBody(service: ApiService, tenantId: string, { key }: ClaimedKey, text: string): Buffer {
  return service.seals.seal(text, sealContext(service, tenantId, key))
}

/** Binds a sealed response to its row. */
function sealContext({ environment }: ApiService, tenantId: string, key: string): string {
  return `idempotency_answers.sealed ${environment} ${tenantId} ${key}`
}

/** Returns the error for a request whose key belongs to a request in progress. */
export function inProgress(): ApiError {
  return idempotencyError(
    409,
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still in progress. Wait, then try again.',
    RETRY_MS,
  )
}

/** Returns the error for a request whose key belongs to a different request. */
export function keyReused(): ApiError {
  return idempotencyError(
    422,
    'idempotency_key_reused',
    'This Idempotency-Key was used for a different request. Use a new key.',
  )
}

function idempotencyError(
  status: number,
  code: 'idempotency_key_reused' | 'idempotency_in_progress',
  message: string,
  retryAfterMs?: number,
): ApiError {
  const wait =
    retryAfterMs === undefined
      ? {}
      : { retryAfterMs, headers: ['Retry-After', String(Math.ceil(retryAfterMs / 1000))] }
  return new ApiError(status, 'idempotency_error', code, message, { param: 'Idempotency-Key', ...wait })
}

const STORED_REFUSALS = new Set([404, 409, 422])

/** Whether a handler's refusal is stored, so that a repeated request gets it too. */
export function isStored(error: ApiError): boolean {
  return STORED_REFUSALS.has(error.status) && error.type !== 'idempotency_error'
}

/** Constraint that is violated if a response is already stored for the key. */
export const ANSWERED_ALREADY = 'idempotency_answers_pkey'

export interface StoredResponse {
  readonly fingerprint: Buffer
  readonly status: number
  /** JSON in canonical form: the body, or the error object. Null if it is sealed. */
  readonly body: string | null
  readonly sealed: Buffer | null
  /** Milliseconds since the epoch, service time. */
  readonly created: number
}

export interface KeyReservation {
  /** Whether no concurrent request holds the key. */
  readonly mine: boolean
  readonly stored: StoredResponse | undefined
}

interface ClaimRow {
  readonly mine: boolean
  readonly fingerprint: Buffer | null
  readonly status: number | null
  readonly body: string | null
  readonly sealed: Buffer | null
  readonly created: number | null
}

const CLAIM: Statement = {
  name: 'idempotency_claim',
  text: `SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS mine,
                a.fingerprint, a.status, a.body, a.sealed, a.created
         FROM (VALUES (1)) AS one
         LEFT JOIN idempotency_answers a ON a.tenant_id = $2 AND a.key = $3::uuid`,
}

const WAIT: Statement = {
  name: 'idempotency_wait',
  text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
}

/** Advisory locks are shared by all schemas of a database, so the name contains the environment. */
const lockName = (environment: string, tenantId: string, key: string) => `${environment}:${tenantId}:${key}`

/**
 * Locks the key until the end of the transaction, and reads the stored response. A concurrent request may store a
 * response after the read and before the lock. The primary key then fails this transaction at its end.
 */
export async function claimKey(
  db: Database,
  environment: string,
  tenantId: string,
  key: string,
): Promise<KeyReservation> {
  const values = [lockName(environment, tenantId, key), tenantId, key]
  const { rows } = await db.query<ClaimRow>(CLAIM, values)
  const row = rows[0]!
  return { mine: row.mine, stored: toAnswer(row) }
}

function toAnswer(row: ClaimRow): StoredResponse | undefined {
  const { fingerprint, status, body, sealed, created } = row
  if (fingerprint === null || status === null || created === null) return undefined
  return { fingerprint, status, body, sealed, created }
}

const READ: Statement = {
  name: 'idempotency_read',
  text: `SELECT fingerprint, status, body, sealed, created FROM idempotency_answers
         WHERE tenant_id = $1 AND key = $2::uuid`,
}

export async function readAnswer(
  db: Database,
  tenantId: string,
  key: string,
): Promise<StoredResponse | undefined> {
  const { rows } = await db.query<StoredResponse>(READ, [tenantId, key])
  return rows[0]
}

const FORGET: Statement = {
  name: 'idempotency_forget',
  text: 'DELETE FROM idempotency_answers WHERE tenant_id = $1 AND key = $2::uuid AND created <= $3',
}

/** Deletes the response of a key if it was created at or before `createdBy`. */
export function forgetAnswer(
  db: Database,
  tenantId: string,
  key: string,
  createdBy: number,
): Promise<unknown> {
  return db.query(FORGET, [tenantId, key, toTimestamp(createdBy)])
}

const SWEEP = sweepOldest('idempotency_answers', 'created')

/**
 * Deletes about `limit` of the oldest responses created at or before `createdBy`, of all tenants. Returns the number.
 */
export async function sweepAnswers(db: Database, createdBy: number, limit: number): Promise<number> {
  const { count } = await db.query(SWEEP, [toTimestamp(createdBy), limit])
  return count
}
