import { hash } from 'node:crypto'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'

export type ActorType = 'key' | 'token' | 'member' | 'operator' | 'system'

/** An action or an attempt, before it is linked into the chain. `created` is service time in milliseconds. */
export interface AuditEntry {
  readonly id: string
  /** Null if it concerns the whole account. */
  readonly environment: Environment | null
  readonly actorType: ActorType
  readonly actorId: string | null
  readonly action: string
  readonly targetId: string | null
  readonly outcome: 'succeeded' | 'failed'
  readonly requestId: string | null
  readonly ip: string | null
  readonly version: string | null
  readonly created: number
}

/**
 * Returns an entry for an action of the service itself.
 *
 * @param action the resource and the action, such as `pass.expired`.
 * @param now service time, milliseconds since the epoch.
 */
export function systemEntry(
  environment: Environment,
  action: string,
  targetId: string,
  now: number,
): AuditEntry {
  return {
    id: newId('aud', now),
    environment,
    actorType: 'system',
    actorId: null,
    action,
    targetId,
    outcome: 'succeeded',
    requestId: null,
    ip: null,
    version: null,
    created: now,
  }
}

const quote = (text: string | null): string => JSON.stringify(text)

/**
 * Returns the entry as the API shows it, without its hash, in canonical form (RFC 8785): the text before and after
 * the value of `previous_hash`. A reader of the log can build the same text and verify every hash.
 */
export function entryText(entry: AuditEntry): readonly [before: string, after: string] {
  const { actorId, actorType, action, created, environment, id, ip, outcome } = entry
  return [
    `{"action":${quote(action)},"actor":{"id":${quote(actorId)},"type":${quote(actorType)}}` +
      `,"created":${quote(writeInstant(created))},"environment":${quote(environment)},"id":${quote(id)}` +
      `,"ip":${quote(ip)},"object":"audit_entry","outcome":${quote(outcome)},"previous_hash":`,
    `,"request_id":${quote(entry.requestId)},"target_id":${quote(entry.targetId)},"version":${quote(entry.version)}}`,
  ]
}

/**
 * Returns the hash of an entry (SHA-256, hexadecimal). @param previousHash hash of the previous entry; null for the
 * first.
 */
export function entryHash(entry: AuditEntry, previousHash: string | null): string {
  const [before, after] = entryText(entry)
  return hash('sha256', `${before}${quote(previousHash)}${after}`, 'hex')
}
