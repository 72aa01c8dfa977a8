/** A server of all merchants that receives webhooks, and verifies the signature of each. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { digestBody } from '../../../runtime/events/outbound/signing.ts'

/** What the server knows of an endpoint, and what it got. */
export interface Box {
  readonly url: string
  /** Secrets that must sign each delivery, newest first. */
  secrets: readonly string[]
  /** Name of the header of the signature in the merchant’s version. */
  header: 'service-signature' | 'x-service-signature'
  /** Deliveries by event type. */
  readonly byType: Map<string, number>
  /** Deliveries that a merchant would refuse, with the reason. */
  readonly faults: string[]
  /** Number of events. */
  count(): number
}

export interface Sink {
  /** Adds an endpoint, whose secret is not known yet. */
  open(): Box
  stop(): void
}

export async function startSink(): Promise<Sink> {
  const boxes: { readonly box: Box; readonly seen: Set<string> }[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const { box, seen } = boxes[Number(request.url!.slice(1))]!
      const body = Buffer.concat(parts).toString()
      const event: { readonly id: string; readonly type: string } = JSON.parse(body)
      const signature = request.headers[box.header]
      if (seen.has(event.id)) box.faults.push(`${event.type} ${event.id} came again`)
      else if (!isSigned(String(signature), body, box.secrets))
        box.faults.push(`${event.type} ${event.id}: ${box.header}: ${signature}`)
      seen.add(event.id)
      box.byType.set(event.type, (box.byType.get(event.type) ?? 0) + 1)
      response.end()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    open() {
      const seen = new Set<string>()
      const box: Box = {
        url: `${origin}/${boxes.length}`,
        secrets: [],
        header: 'service-signature',
        byType: new Map(),
        faults: [],
        count: () => seen.size,
      }
      boxes.push({ box, seen })
      return box
    },
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Returns whether the header has one signature for each of the secrets, in their order, and no other one. */
function isSigned(header: string, body: string, secrets: readonly string[]): boolean {
  const seconds = Number(/^t=(\d+),/.exec(header)?.[1])
  const expected = secrets.map((secret) => `,v1=${digestBody(secret, body, seconds).toString('hex')}`)
  return secrets.length > 0 && header === `t=${seconds}${expected.join('')}`
}
