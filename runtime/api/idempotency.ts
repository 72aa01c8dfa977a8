import { hash } from 'node:crypto'
import type { Database } from '../platform/database/database.ts'
import { enqueue } from '../platform/database/enqueue.ts'
import { waitForSeen } from '../platform/database/pool/flusher.ts'
import { canonicalJson } from './canonical-json.ts'
import { ApiError } from './errors.ts'
import { type Admitted, databaseOf, type Parsed, type Service, type WrittenReply } from './exchange.ts'
import { claimKey, forgetAnswer, readAnswer, type StoredResponse } from './idempotency-queries.ts'

/** How long a response is stored, in milliseconds of service time. */
export const KEPT_FOR = 24 * 3_600_000

/** How long a request in progress may be expected to take. */
const RETRY_MS = 1000

/** A request that may be answered once only. */
export interface ClaimedKey {
  readonly key: string
  /** SHA-256 over what the request asks for, in the caller's spelling. */
  readonly fingerprint: Buffer
}

/** The claim of a request with an Idempotency-Key; undefined without one. To be made before anything is translated. */
export function claimOf(exchange: Admitted): ClaimedKey | undefined {
  if (exchange.idempotencyKey === undefined) return undefined
  return { key: exchange.idempotencyKey, fingerprint: fingerprintOf(exchange) }
}

/** What the request asks for, in the caller's spelling: SHA-256. */
export function fingerprintOf({ route, pathParameters, query, body }: Parsed): Buffer {
  const { method, path } = route.operation
  return hash('sha256', canonicalJson([method, path, pathParameters, query, body ?? null]), 'buffer')
}

/**
 * Takes the key for this transaction. Gives the response that is stored under it already, if any; throws
 * `idempotency_in_progress` while another request holds it, and `idempotency_key_reused` when it was for another.
 */
export async function claim(
  db: Database,
  service: Service,
  { credential, now }: Admitted,
  claimed: ClaimedKey,
): Promise<WrittenReply | undefined> {
  const { tenant, space } = credential
  const { mine, stored } = await claimKey(db, service.environment, space, claimed.key)
  if (stored && stored.created > now - KEPT_FOR) {
    waitForSeen(db)
    return replay(stored, claimed, service, tenant.id)
  }
  if (!mine) throw inProgress()
  if (stored) enqueue(forgetAnswer(db, space, claimed.key, now - KEPT_FOR))
  return undefined
}

/** The response that another request stored while this one worked: its own work has been undone by the conflict. */
export async function replayStored(
  service: Service,
  exchange: Admitted,
  claimed: ClaimedKey,
): Promise<WrittenReply> {
  const { tenant, space } = exchange.credential
  const stored = await readAnswer(databaseOf(exchange, service).lasting, space, claimed.key)
  if (!stored) throw inProgress()
  return replay(stored, claimed, service, tenant.id)
}

function replay(
  stored: StoredResponse,
  claimed: ClaimedKey,
  service: Service,
  tenantId: string,
): WrittenReply {
  if (!stored.fingerprint.equals(claimed.fingerprint)) {
    throw idempotencyError(422, 'idempotency_key_reused', 'This key was used for another request.')
  }
  const { status, body, sealed } = stored
  const text = sealed ? service.seals.unseal(sealed, sealContext(service, tenantId, claimed.key)) : body!
  return { status, body: undefined, text, replayed: true }
}

/** Seals a response that may hold a secret, to be stored: whoever repeats the request sees the secret again. */
export function sealBody(service: Service, tenantId: string, { key }: ClaimedKey, text: string): Buffer {
  return service.seals.seal(text, sealContext(service, tenantId, key))
}

/** Sealed in one row, it opens in no other. */
function sealContext({ environment }: Service, tenantId: string, key: string): string {
  return `idempotency_answers.sealed ${environment} ${tenantId} ${key}`
}

function inProgress(): ApiError {
  return idempotencyError(
    409,
    'idempotency_in_progress',
    'A request with this key is still running.',
    RETRY_MS,
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

/** Whether a handler's refusal is the response that a retry gets too. */
export function isStored(error: ApiError): boolean {
  return STORED_REFUSALS.has(error.status) && error.type !== 'idempotency_error'
}
