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

/** How long a request in progress may be expected to take. */
const RETRY_MS = 1000

/** A request that may be answered once only. */
export interface ClaimedKey {
  readonly key: string
  /** SHA-256 over what the request asks for, in the caller's spelling. */
  readonly fingerprint: Buffer
}

/** The claim of a request with an Idempotency-Key; undefined without one. To be made before anything is translated. */
export function claimOf(call: ApiCall): ClaimedKey | undefined {
  if (call.idempotencyKey === undefined) return undefined
  return { key: call.idempotencyKey, fingerprint: fingerprintOf(call) }
}

/** What the request asks for, in the caller's spelling: SHA-256. */
export function fingerprintOf({ route, pathParameters, query, body }: ApiCall): Buffer {
  const { method, path } = route.operation
  return hash('sha256', canonicalJson([method, path, pathParameters, query, body ?? null]), 'buffer')
}

/**
 * Takes the key for this transaction. Gives the response that is stored under it already, if any; throws
 * `idempotency_in_progress` while another request holds it, and `idempotency_key_reused` when it was for another.
 *
 * @param waits for another request that holds it: one that goes on with what it has begun is what others find in progress.
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

/** The response that another request stored while this one worked: its own work has been undone by the conflict. */
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

/** Seals a response that may hold a secret, to be stored: whoever repeats the request sees the secret again. */
export function sealBody(service: ApiService, tenantId: string, { key }: ClaimedKey, text: string): Buffer {
  return service.seals.seal(text, sealContext(service, tenantId, key))
}

/** Sealed in one row, it opens in no other. */
function sealContext({ environment }: ApiService, tenantId: string, key: string): string {
  return `idempotency_answers.sealed ${environment} ${tenantId} ${key}`
}

/** The refusal of a request whose key belongs to one that is still running. */
export function inProgress(): ApiError {
  return idempotencyError(
    409,
    'idempotency_in_progress',
    'A request with this key is still running.',
    RETRY_MS,
  )
}

/** The refusal of a request whose key belongs to another. */
export function keyReused(): ApiError {
  return idempotencyError(422, 'idempotency_key_reused', 'This key was used for another request.')
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

/** Whether a handler's refusal is the response that a retry gets too. */
export function isStored(error: ApiError): boolean {
  return STORED_REFUSALS.has(error.status) && error.type !== 'idempotency_error'
}

/** The constraint that is violated where a response is stored under the key already. */
export const ANSWERED_ALREADY = 'idempotency_answers_pkey'

/** What was answered under a key. */
export interface StoredResponse {
  readonly fingerprint: Buffer
  readonly status: number
  /** JSON in the form of the canonical version: the body of success, or an error object. Null where it is sealed. */
  readonly body: string | null
  readonly sealed: Buffer | null
  /** Milliseconds since the epoch, service time. */
  readonly created: number
}

export interface KeyReservation {
  /** Whether no other request with this key is running. */
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

/** Locks are shared by all schemas of the database, so their names contain the environment. */
const lockName = (environment: string, tenantId: string, key: string) => `${environment}:${tenantId}:${key}`

/**
 * Takes the key until the end of the transaction and reads the response under it. Another may be stored between the
 * reading and the lock: then the primary key is violated at the end.
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

/** Deletes the response under a key where it is as old as `createdBy` or older. */
export function forgetAnswer(
  db: Database,
  tenantId: string,
  key: string,
  createdBy: number,
): Promise<unknown> {
  return db.query(FORGET, [tenantId, key, toTimestamp(createdBy)])
}

const SWEEP = sweepOldest('idempotency_answers', 'created')

/** Deletes the oldest responses of all tenants, about `limit` at a time, as old as `createdBy` or older; says how many. */
export async function sweepAnswers(db: Database, createdBy: number, limit: number): Promise<number> {
  const { count } = await db.query(SWEEP, [toTimestamp(createdBy), limit])
  return count
}
