/** Verifies `Network-Signature`: `t=<Unix seconds>,v1=<hex HMAC-SHA-256 of "t.body">`, possibly with several `v1`. */
import { timingSafeEqual } from 'node:crypto'
import { digestBody } from '../../events/outbound/signing.ts'

/** Maximum difference between the clocks, plus the time that a request travels. */
const TOLERANCE_S = 300

/** As in the document of the interface. */
const MAX_LENGTH = 1024

const SIGNATURE = /^t=(\d{1,12})((?:, *v1=[0-9a-f]{64})+)$/

/**
 * Returns why a signature is refused; undefined if one of the secrets made it. Takes the same time for every signature
 * of the right form.
 *
 * @param now machine time in milliseconds since the epoch.
 */
export function findSignatureFault(
  header: string | undefined,
  body: Buffer,
  secrets: readonly string[],
  now: number,
): string | undefined {
  if (header === undefined) return 'The header Network-Signature is missing.'
  const [, t, values] = header.length > MAX_LENGTH ? [] : (SIGNATURE.exec(header) ?? [])
  if (t === undefined || values === undefined)
    return 'The header Network-Signature must have the form t=<Unix seconds>,v1=<64 hexadecimal digits>.'
  const seconds = Number(t)
  if (Math.abs(now / 1000 - seconds) > TOLERANCE_S)
    return `The timestamp of the signature is more than ${TOLERANCE_S} seconds off. Check the clock.`
  const given = values
    .split(/, *v1=/)
    .slice(1)
    .map((digest) => Buffer.from(digest, 'hex'))
  let isValid = false
  for (const secret of secrets) {
    const wanted = digestBody(secret, body, seconds)
    for (const digest of given) if (timingSafeEqual(digest, wanted)) isValid = true
  }
  return isValid ? undefined : 'No active signing key made this signature of the body.'
}
