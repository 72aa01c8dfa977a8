/** Signatures of the requests that receivers got. */
import { createHmac, createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import type { Merchant } from '../merchant.ts'
import type { Arrival } from '../peers.ts'
import { fail, mustEqual } from './must.ts'

/** An endpoint, and the form of its signatures. */
interface SignedEndpoint {
  readonly id: string
  readonly signature: string
}

/** Each request has the signatures of the secret, and of the one before it for a day after a rotation. */
export function areSigned(
  arrivals: readonly Arrival[],
  { id, signature }: SignedEndpoint,
  merchant: Merchant,
  host: string,
): void {
  const [secret, old] = [merchant.secrets.get(id)!, merchant.rotated.get(id)]
  for (const { headers, body, at, event, attempt } of arrivals) {
    const text = headers['Service-Signature'] ?? headers['X-Service-Signature'] ?? ''
    const seconds = /^t=(\d+),v1=/.exec(text)?.[1] ?? fail(`${host} got no signature`)
    if (Math.abs(Number(seconds) * 1000 - at) > FRESH_MS) fail(`${host} got an old signature`)
    const sign = (key: string) =>
      `,v1=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`
    // Near a rotation, and near the end of the old secret, a request can be signed as before or as after that.
    const secrets =
      [at - FRESH_MS, at + FRESH_MS]
        .map((time) => secretsAt(secret, old, time))
        .find((each) => text === `t=${seconds}${each.map(sign).join('')}`) ??
      fail(`${host} got a false signature`)
    mustEqual(
      [headers['Content-Type'], headers['Service-Event-Id'] ?? event, headers['Service-Delivery-Attempt']],
      ['application/json', event, String(attempt)],
      `headers of a request to ${host}`,
    )
    const isStandard = headers['webhook-id'] !== undefined
    // It may have been changed since then.
    if (isStandard !== (signature === 'standard_webhooks')) fail(`${host} got signatures of another form`)
    if (isStandard) isStandardSigned(headers, { event, seconds, body, secrets }, merchant, id)
  }
}

/** A secret still signs for a day after its rotation. */
const RETIRED_MS = 24 * 3_600_000

function secretsAt(
  secret: string,
  old: { readonly secret: string; readonly at: number } | undefined,
  now: number,
): readonly string[] {
  if (!old || now > old.at + RETIRED_MS) return [secret]
  return now < old.at ? [old.secret] : [secret, old.secret]
}

/** Less than what receivers accept: a signature is made for each request. */
const FRESH_MS = 60_000

/** A public key is published for a day after its rotation; the newer one verifies the other signature then. */
const PUBLISHED_MS = 20 * 3_600_000

function isStandardSigned(
  headers: Arrival['headers'],
  sent: {
    readonly event: string
    readonly seconds: string
    readonly body: string
    readonly secrets: readonly string[]
  },
  { hooksRead }: Merchant,
  endpoint: string,
): void {
  const { event, seconds, body, secrets } = sent
  mustEqual([headers['webhook-id'], headers['webhook-timestamp']], [event, seconds], 'standard headers')
  const signed = Buffer.from(`${event}.${seconds}.${body}`)
  const given = (headers['webhook-signature'] ?? '').split(' ')
  const shared = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
  })
  const reads = [...(hooksRead?.live.endpoints ?? []), ...(hooksRead?.sandbox.endpoints ?? [])]
  const keys = reads.find(({ shown }) => shown.id === endpoint)?.keys ?? []
  const count = given.length / 2
  mustEqual(given.slice(0, count), shared, 'the signatures of a standard webhook')
  if (Number(seconds) * 1000 < Date.now() - PUBLISHED_MS) return
  const isVerified = given.slice(count).some((text) => {
    const signature = Buffer.from(text.slice('v1a,'.length), 'base64')
    return keys.some((key) =>
      verify(null, signed, createPublicKey({ key: key as JsonWebKey, format: 'jwk' }), signature),
    )
  })
  if (!isVerified) fail(`no public key of ${endpoint} verifies a signature`)
}
