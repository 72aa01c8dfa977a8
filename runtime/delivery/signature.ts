import { createHmac } from 'node:crypto'

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
