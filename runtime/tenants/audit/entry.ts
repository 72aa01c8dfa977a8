import { hash } from 'node:crypto'
import type { Environment } from '../../platform/environment.ts'
import { newId } from '../../platform/ids.ts'
import { writeInstant } from '../../platform/instants.ts'

export type ActorType = 'key' | 'token' | 'member' | 'operator' | 'system'

/** One thing that was done, or tried, before it is linked into its chain. `created` is service time in milliseconds. */
export interface AuditEntry {
  readonly id: string
  /** Null: it concerns the account as a whole. */
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
 * What the service did by itself.
 *
 * @param action the resource and what was done to it: `pass.expired`. @param now service time.
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
 * The entry as the API shows it, without its hash, in the canonical form of RFC 8785: the text before and after the
 * value of `previous_hash`. Who reads the log can make the same text of each entry and check every hash.
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

/** The hash, hexadecimal SHA-256, of an entry that follows on the one with the given hash; null for the first. */
export function entryHash(entry: AuditEntry, previousHash: string | null): string {
  const [before, after] = entryText(entry)
  return hash('sha256', `${before}${quote(previousHash)}${after}`, 'hex')
}
