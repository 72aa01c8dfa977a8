import { hash } from 'node:crypto'
import type { Database } from '../platform/database/database.ts'
import { waitForSeen } from '../platform/database/pool/flusher.ts'
import { canonicalJson } from './canonical-json.ts'
import { ApiError } from './errors.ts'
import { databaseOf, type Exchange, type Service, type WrittenReply } from './exchange.ts'
import { claimKey, forgetAnswer, readAnswer, type StoredAnswer } from './idempotency-queries.ts'

/** How long an answer is kept, in milliseconds of service time. */
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
export function claimOf(exchange: Exchange): ClaimedKey | undefined {
  if (exchange.idempotencyKey === undefined) return undefined
  return { key: exchange.idempotencyKey, fingerprint: fingerprintOf(exchange) }
}

/** What the request asks for, in the caller's spelling: SHA-256. */
export function fingerprintOf({ route, pathParameters, query, body }: Exchange): Buffer {
  const { method, path } = route!.operation
  return hash('sha256', canonicalJson([method, path, pathParameters, query, body ?? null]), 'buffer')
}

/**
 * Step 12: takes the key for this transaction. Gives the answer that stands under it already, if any; throws
 * `idempotency_in_progress` while another request holds it, and `idempotency_key_reused` when it was for another.
 */
export async function claim(
  db: Database,
  service: Service,
  { credential, now }: Exchange,
  claimed: ClaimedKey,
): Promise<WrittenReply | undefined> {
  const { tenant, space } = credential!
  const { mine, stored } = await claimKey(db, service.environment, space, claimed.key)
  const standing = stored && stored.created > now - KEPT_FOR ? stored : undefined
  if (standing) {
    waitForSeen(db)
    return replay(standing, claimed, service, tenant.id)
  }
  if (!mine) throw inProgress()
  if (stored) forgetAnswer(db, space, claimed.key, now - KEPT_FOR)
  return undefined
}

/** The answer that another request stored while this one worked: its own work has been undone by the conflict. */
export async function replayStanding(
  service: Service,
  exchange: Exchange,
  claimed: ClaimedKey,
): Promise<WrittenReply> {
  const { tenant, space } = exchange.credential!
  const standing = await readAnswer(databaseOf(exchange, service).lasting, space, claimed.key)
  if (!standing) throw inProgress()
  return replay(standing, claimed, service, tenant.id)
}

function replay(stored: StoredAnswer, claimed: ClaimedKey, service: Service, tenantId: string): WrittenReply {
  if (!stored.fingerprint.equals(claimed.fingerprint)) {
    throw idempotencyError(422, 'idempotency_key_reused', 'This key was used for another request.')
  }
  const { status, body, sealed } = stored
  const text = sealed ? service.seals.unseal(sealed, sealContext(service, tenantId, claimed.key)) : body!
  return { status, body: undefined, text, replayed: true }
}

/** Members of answers whose values are secrets: they are seen once, and again by who repeats the request. */
export const SECRET_MEMBERS = ['secret'] as const

// JSON writes a member's name so, and nothing else: within a string the quotes are escaped.
const SECRET_NAMES = SECRET_MEMBERS.map((name) => `"${name}":`)

/** An answer as it is kept: sealed when a secret stands in it. */
export function keepBody(
  service: Service,
  tenantId: string,
  { key }: ClaimedKey,
  text: string,
): string | Buffer {
  if (!SECRET_NAMES.some((name) => text.includes(name))) return text
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

const KEPT_REFUSALS = new Set([404, 409, 422])

/** Whether a handler's refusal is the answer that a retry shall get too. */
export function isKept(error: ApiError): boolean {
  return KEPT_REFUSALS.has(error.status) && error.type !== 'idempotency_error'
}
