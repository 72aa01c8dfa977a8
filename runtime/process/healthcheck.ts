/**
 * Exits with 0 if a port of this container answers `/readyz` with success, and with 1 otherwise. Usage:
 * `node runtime/process/healthcheck.ts [PORT]`, by default the port of the sandbox API. Loads no other module, because
 * it runs every few seconds.
 */
import { get as getPlain } from 'node:http'
import { get as getTls } from 'node:https'

const { SANDBOX_PORT, TLS_CERT } = process.env
const port = process.argv[2] ?? SANDBOX_PORT ?? '4010'
const options = { host: '127.0.0.1', port, path: '/readyz', timeout: 3000 }

function end(problem?: string): never {
  if (problem !== undefined) process.stderr.write(`port ${port} is not ready: ${problem}\n`)
  process.exit(problem === undefined ? 0 : 1)
}

// The certificate is for the public name of the service, not for this address.
const request = TLS_CERT ? getTls({ ...options, rejectUnauthorized: false }) : getPlain(options)
request.on('response', ({ statusCode }) => end(statusCode === 200 ? undefined : `status ${statusCode}`))
request.on('timeout', () => end('no answer within 3 s'))
request.on('error', ({ message }) => end(message))
