/**
 * `npm run demo:data -- --url URL --key KEY`: fills the sandbox of a running service with what a small merchant has after a
 * month, through the API and its simulators. With `--days 28`, the service's sandbox clock advances by one day after each
 * part: start the service with `SVC_CLOCK` that long ago, and with `SVC_WEBHOOK_ALLOW=127.0.0.0/8` so that its webhooks reach
 * the receiver of this script. The environment is that of `npm run admin`, which advances the clock.
 */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import type { Send } from '../../support/service.ts'
import { fillDemo } from './data.ts'

const { values } = parseArgs({
  options: { url: { type: 'string' }, key: { type: 'string' }, days: { type: 'string', default: '0' } },
})
const { url, key } = values
if (!url || !key)
  throw new Error('give --url and --key: the sandbox URL and a sandbox secret key of the demo tenant')

const send: Send = async (path, { method, body, headers } = {}) => {
  const response = await fetch(url + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: {
      Authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() }),
      ...(headers as Record<string, string> | undefined),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: text && JSON.parse(text) }
}

async function nextDay(): Promise<void> {
  const words = ['runtime/operator/command/admin.ts', 'clock', 'advance', '--seconds', '86400', '--json']
  const command = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(command, 'exit')
  if (code !== 0) throw new Error(`admin clock advance ended with code ${code}`)
}

let received = 0
const receiver = createServer((request, response) => {
  received += 1
  request.resume()
  response.statusCode = request.url === '/ledger' && received % 3 === 0 ? 503 : 200
  response.end(response.statusCode === 200 ? 'ok' : 'The ledger is locked for the closing of the day.')
})
await once(receiver.listen(0, '127.0.0.1'), 'listening')
const { port } = receiver.address() as AddressInfo
await fillDemo(send, { days: Number(values.days), nextDay, receiver: `http://127.0.0.1:${port}` })
receiver.close()
receiver.closeAllConnections()
