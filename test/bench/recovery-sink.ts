/**
 * Where the deliveries of `bench:recovery` go, a process of its own: verifies every signature, and counts what arrived out of order, twice
 * or never.
 *
 *   node recovery-sink.ts <events>
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { digestBody } from '../../runtime/events/outbound/signing.ts'
import { obey } from './webhooks-processes.ts'

/** What arrived since `expect`. */
export interface Delivered {
  readonly count: number
  /** Deliveries of an event that had arrived before, and events that did not arrive. */
  readonly doubled: number
  readonly lost: number
  /** Deliveries after a later event of the endpoint or, if each object has an order of its own, of the object. */
  readonly disordered: number
  readonly forged: number
}

let [secret, byObject, expected] = ['', false, 0]
let counts = { count: 0, doubled: 0, disordered: 0, forged: 0 }
const seen = new Set<string>()
const last = new Map<string, string>()

function note(request: IncomingMessage, body: string): void {
  const [, seconds = '', digest = ''] =
    /^t=(\d+),v1=(\w+)$/.exec(String(request.headers['service-signature'])) ?? []
  if (digestBody(secret, body, Number(seconds)).toString('hex') !== digest) counts.forged += 1
  const { id, data } = JSON.parse(body) as { id: string; data: { pass: { id: string } } }
  const key = byObject ? data.pass.id : ''
  if (seen.has(id)) counts.doubled += 1
  else if ((last.get(key) ?? '') > id) counts.disordered += 1
  else last.set(key, id)
  seen.add(id)
  counts.count += 1
}

const server = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  note(request, body)
  response.end('noted')
})
server.keepAliveTimeout = 60_000
await once(server.listen(0, '127.0.0.1', 4096), 'listening')

const methods = {
  origin(): string {
    const address = server.address()
    if (typeof address !== 'object' || address === null) throw new Error('the sink has no port')
    return `http://127.0.0.1:${address.port}`
  },
  /** Forgets what arrived, and expects events that are signed with the secret. */
  expect(key: string, events: number, separately: boolean): void {
    ;[secret, byObject, expected] = [key, separately, events]
    counts = { count: 0, doubled: 0, disordered: 0, forged: 0 }
    seen.clear()
    last.clear()
  },
  delivered: (): Delivered => ({ ...counts, lost: expected - seen.size }),
}
export type Sink = typeof methods

obey(methods, () => server.closeAllConnections())
