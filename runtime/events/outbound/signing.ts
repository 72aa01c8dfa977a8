/** Signatures of what is sent to tenants, and the secrets that sign it. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Seals } from '../../platform/secrets.ts'

/** How long a secret signs after its rotation, in milliseconds of service time. */
export const RETIRED_FOR = 24 * 3_600_000

/** A secret from before a rotation. */
export interface RetiredSecret {
  /** Base64. */
  readonly sealed: string
  /** Until when it signs: service time, milliseconds since the epoch. */
  readonly until: number
}

/** A new secret, as its tenant sees it once. */
export function makeSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`
}

/**
 * The secrets that sign now: the current one, and the one before it for a while.
 *
 * @param context of `secretContext`. @param now service time.
 */
export function openSecrets(
  seals: Pick<Seals, 'unseal'>,
  context: string,
  stored: { readonly secret: Buffer; readonly retired_secrets: readonly RetiredSecret[] },
  now: number,
): string[] {
  // Rows of earlier versions hold every secret of 24 hours, the newest first.
  const retired = stored.retired_secrets.slice(0, 1).filter(({ until }) => until > now)
  return [stored.secret, ...retired.map(({ sealed }) => Buffer.from(sealed, 'base64'))].map((sealed) =>
    seals.unseal(sealed, context),
  )
}

/**
 * The value of `Service-Signature`: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`, one `v1` for each secret that
 * signs, so that receivers with the old or the new one accept it.
 *
 * @param seconds real time of the attempt; receivers reject what differs by more than 300 s from theirs.
 */
export function signBody(secrets: readonly string[], body: string, seconds: number): string {
  const signatures = secrets.map((secret) => {
    const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
    return `,v1=${digest}`
  })
  return `t=${seconds}${signatures.join('')}`
}
