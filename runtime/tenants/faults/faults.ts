/** Simulated failures of a sandbox: what a tenant sets, and which requests are affected. */
import { hash } from 'node:crypto'
import type { components } from '../../../generated/canonical/types.ts'

type ShownFaults = components['schemas']['Faults']

/** The setting as stored, without times. */
export interface FaultSetting extends Omit<ShownFaults, 'object' | 'created' | 'expires_at'> {
  /** Identifier of the request that set the failures. */
  readonly request_id: string
}

export interface Faults extends FaultSetting {
  /** Service time in milliseconds, as is `expires_at`. */
  readonly created: number
  readonly expires_at: number
}

/** A failure that affects a share of the requests or of the webhook deliveries. */
export type FaultKind = 'rate_limited' | 'error' | 'declined' | 'late' | 'duplicate'

const SHARES = {
  rate_limited: 'rate_limited_percent',
  error: 'error_percent',
  declined: 'declined_percent',
  late: 'late_webhooks_percent',
  duplicate: 'duplicate_webhooks_percent',
} as const satisfies Record<FaultKind, keyof FaultSetting>

/** What identifies a request: a repetition has the same values. */
export interface FaultTarget {
  readonly method: string
  /** Path and query, as sent. */
  readonly target: string
  readonly idempotencyKey: string | undefined
}

const nameOf = ({ method, target, idempotencyKey = '' }: FaultTarget) =>
  `${method} ${target} ${idempotencyKey}`

/** The first 32 bits of a digest are compared with this share of all values. */
const PERCENT = 2 ** 32 / 100

/** Returns whether a failure affects a request. It depends only on the setting and the request. */
export function isAffected(faults: FaultSetting, kind: FaultKind, request: FaultTarget): boolean {
  const share = faults[SHARES[kind]]
  if (share === 0) return false
  const digest = hash('sha256', `${faults.seed} ${kind} ${nameOf(request)}`, 'buffer')
  return digest.readUInt32BE(0) < share * PERCENT
}

/** Returns the key under which the failures of a request are counted. A new setting starts new counts. */
export function countedAs({ request_id }: FaultSetting, kind: FaultKind, request: FaultTarget): string {
  return hash('sha256', `${request_id} ${kind} ${nameOf(request)}`, 'base64url')
}
