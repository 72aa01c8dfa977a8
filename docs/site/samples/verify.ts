import { createHmac, timingSafeEqual } from 'node:crypto'

/** Returns whether a delivery was signed with the endpoint's secret at most five minutes ago. */
export function verify(body: string, signature: string, secret: string): boolean {
  const [time = '', ...others] = signature.split(',')
  const seconds = Number(time.replace(/^t=/, ''))
  const expected = createHmac('sha256', secret).update(`${seconds}.${body}`).digest()
  const signed = others
    .filter((each) => each.startsWith('v1='))
    .map((each) => Buffer.from(each.slice(3), 'hex'))
    .some((each) => each.length === expected.length && timingSafeEqual(each, expected))
  return signed && Math.abs(Date.now() / 1000 - seconds) <= 300
}
