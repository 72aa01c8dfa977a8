/** Signing secrets, and signatures of requests to tenants and of messages of a card network. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Seals } from '../../platform/secrets.ts'

/** Milliseconds (service time) that a secret still signs after its rotation. */
export const RETIRED_FOR = 24 * 3_600_000

/** A secret from before a rotation. */
export interface RetiredSecret {
  /** The sealed secret, in Base64. */
  readonly sealed: string
  /** When it stops signing: service time, milliseconds since the epoch. */
  readonly until: number
}

/**
 * Creates a secret. Its owner sees it once.
 *
 * @param prefix tells people what it is for.
 * @param encoding of its bytes. Libraries for Standard Webhooks read only `base64`.
 */
export function makeSigningSecret(
  prefix: 'whsec' | 'netsec' = 'whsec',
  encoding: 'base64' | 'base64url' = 'base64url',
): string {
  return `${prefix}_${randomBytes(32).toString(encoding)}`
}

/**
 * Returns the secrets that sign now: the current one and, for 24 hours after a rotation, the previous one.
 *
 * @param context of `secretContext`.
 * @param now service time, milliseconds since the epoch.
 */
export function openSecrets(
  seals: Pick<Seals, 'unseal'>,
  context: string,
  stored: { readonly secret: Buffer; readonly retired_secrets: readonly RetiredSecret[] },
  now: number,
): string[] {
  // Rows that an earlier release wrote hold every secret of the last 24 hours, newest first.
  const retired = stored.retired_secrets.slice(0, 1).filter(({ until }) => until > now)
  return [stored.secret, ...retired.map(({ sealed }) => Buffer.from(sealed, 'base64'))].map((sealed) =>
    seals.unseal(sealed, context),
  )
}

/** Returns the HMAC-SHA-256 of the timestamp, a period and the body. @param seconds Unix time of the signature. */
export function digestBody(secret: string, body: string | Buffer, seconds: number): Buffer {
  return createHmac('sha256', secret).update(`${seconds}.`).update(body).digest()
}

/**
 * Returns the value of `Service-Signature` or `Network-Signature`: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "t.body">`. It has one `v1` for
 * each secret that signs, so that receivers can verify it with the old or the new secret.
 *
 * @param seconds real time of the attempt. Receivers reject a time that differs from theirs by more than 300 s.
 */
export function signBody(secrets: readonly string[], body: string | Buffer, seconds: number): string {
  const signatures = secrets.map((secret) => `,v1=${digestBody(secret, body, seconds).toString('hex')}`)
  return `t=${seconds}${signatures.join('')}`
}
