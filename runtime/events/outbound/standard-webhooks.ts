/** Signatures of deliveries in the form of Standard Webhooks 1.0 (github.com/standard-webhooks/standard-webhooks). */
import { createHmac, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import type { Seals } from '../../platform/secrets.ts'

/** The keys that follow from one secret of an endpoint. */
export interface StandardKeys {
  /** Key of `v1`: the bytes of the secret after `whsec_`. */
  readonly shared: Buffer
  /** Private key of `v1a`. It never leaves the service: only its public key is shown. */
  readonly private: KeyObject
}

/** The start of an Ed25519 private key in PKCS #8 (RFC 8410, section 7). The 32 bytes of the key follow. */
const PKCS8_START = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Derives the keys from a secret. The private key also depends on the pepper, so that the owner of the secret cannot sign
 * with it, and on the endpoint, so that a delivery to one endpoint is not valid for a different one.
 *
 * @param context of `secretContext`.
 */
export function standardKeys(seals: Pick<Seals, 'derive'>, context: string, secret: string): StandardKeys {
  const seed = Buffer.from(seals.derive(`Ed25519 ${context} ${secret}`), 'hex')
  return {
    // Node reads base64 and base64url, the form of secrets that were made for the signature of the service.
    shared: Buffer.from(secret.slice(secret.indexOf('_') + 1), 'base64'),
    private: createPrivateKey({ key: Buffer.concat([PKCS8_START, seed]), format: 'der', type: 'pkcs8' }),
  }
}

/** A public key as a JSON Web Key (RFC 7517, RFC 8037). */
export interface SigningJwk {
  readonly kty: 'OKP'
  readonly crv: 'Ed25519'
  readonly x: string
  readonly alg: 'EdDSA'
  readonly use: 'sig'
}

/** Returns the public key that verifies `v1a`. */
export function publicJwk(keys: StandardKeys): SigningJwk {
  const { x = '' } = createPublicKey(keys.private).export({ format: 'jwk' })
  return { kty: 'OKP', crv: 'Ed25519', x, alg: 'EdDSA', use: 'sig' }
}

/**
 * Returns the headers of a delivery, with a `v1` and a `v1a` for each secret that signs.
 *
 * @param id identifier of the event, the same for every attempt.
 * @param seconds Unix time of the attempt.
 */
export function standardHeaders(
  keys: readonly StandardKeys[],
  id: string,
  body: string,
  seconds: number,
): Readonly<Record<string, string>> {
  const signed = Buffer.from(`${id}.${seconds}.${body}`)
  const symmetric = keys.map(
    ({ shared }) => `v1,${createHmac('sha256', shared).update(signed).digest('base64')}`,
  )
  const asymmetric = keys.map((each) => `v1a,${sign(null, signed, each.private).toString('base64')}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': [...symmetric, ...asymmetric].join(' '),
  }
}
