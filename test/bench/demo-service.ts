/** A service of a bench's own with its demo tenant, in a process of its own on an embedded PostgreSQL. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { START } from '../support/programs.ts'
import { BENCH_PEPPER, startDatabase } from './bench-database.ts'
import type { Scratch } from './scratch.ts'

const ADMIN = 'runtime/operator/command/admin.ts'

const VERSION = '2026-05-19'

/** GET, or POST with a new Idempotency-Key where there is a body; throws where the answer is no success. */
export type Call = (
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<{
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: what it is depends on the call
  readonly body: any
}>

export interface DemoService {
  /** Of its database, as the owner. */
  readonly url: string
  readonly call: Call
  /** Of its sandbox, without a slash at the end. */
  readonly origin: string
  /** Of the dashboard, without a slash at the end. */
  readonly console: string
  readonly tenantId: string
  /** A secret key of the sandbox. */
  readonly secret: string
  /** The owner's, in base 32. */
  readonly totpSecret: string
  readonly pid: number
  /** Origin of the network listener, if NETWORK_PORT is set. */
  readonly network: string | undefined
}

interface Ready {
  readonly tenant_id: string
  readonly sandbox_base_url: string
  readonly console_url: string
  readonly network_url?: string
  readonly keys: { readonly sandbox_secret: string }
  readonly dashboard: { readonly totp_secret: string }
}

/**
 * Starts the service. Its tenant's limit on writes of passes is lifted, so that a quick machine is not refused.
 *
 * @param settings added to those of a bench
 */
export async function startDemoService(
  scratch: Scratch,
  settings: Readonly<Record<string, string>> = {},
): Promise<DemoService> {
  const url = await startDatabase(scratch)
  const env = {
    DATABASE_URL: url,
    SVC_PEPPER: BENCH_PEPPER,
    DATA_DIR: scratch.directory,
    SANDBOX_PORT: '0',
    LIVE_PORT: '0',
    CONSOLE_PORT: '0',
    NODE_ENV: 'bench',
    ...settings,
  }
  const child = spawn(process.execPath, [...START, '--json', '--demo'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  scratch.own(child)
  const lines = createInterface({ input: child.stdout })
  const line = await Promise.race([once(lines, 'line'), once(lines, 'close')])
  if (line.length === 0) throw new Error('the service ended before it was ready')
  const ready = JSON.parse(String(line[0])) as Ready
  const { sandbox_base_url: origin, console_url: console, network_url: network, keys } = ready
  await liftLimit(process.cwd(), env, { tenantId: ready.tenant_id, bucket: 'passes_write' })
  return {
    url,
    call: createCall(ready),
    origin,
    console,
    tenantId: ready.tenant_id,
    secret: keys.sandbox_secret,
    totpSecret: ready.dashboard.totp_secret,
    pid: child.pid!,
    network,
  }
}

/** Raises a limit of the sandbox a thousandfold for an hour, with the `admin` command of a checkout. */
export async function liftLimit(
  checkout: string,
  env: Readonly<Record<string, string>>,
  { tenantId, bucket }: { readonly tenantId: string; readonly bucket: string },
): Promise<void> {
  const limit = ['limit', 'lift', '--tenant', tenantId, '--env', 'sandbox', '--bucket', bucket]
  const words = [ADMIN, ...limit, '--factor', '1000', '--hours', '1', '--json']
  const command = spawn(process.execPath, words, {
    cwd: checkout,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(command, 'exit')
  if (code !== 0) throw new Error(`admin limit lift ended with code ${code}`)
}

function createCall({ sandbox_base_url, keys }: Ready): Call {
  return async (path, body, headers) => {
    const response = await fetch(sandbox_base_url + path, {
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
      headers: {
        authorization: `Bearer ${keys.sandbox_secret}`,
        'service-version': VERSION,
        ...(body !== undefined && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
        ...headers,
      },
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return { text, body: JSON.parse(text) }
  }
}
