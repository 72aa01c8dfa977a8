/** A service of its own, filled with the demo data. */
import { randomUUID } from 'node:crypto'
import { runAdmin, startService } from '../../support/programs.ts'
import type { Send } from '../../support/service.ts'
import { fillDemo } from './data.ts'
import { startReceiver } from './receiver.ts'

/** The ready line of a service with the demo tenant. */
export interface DemoReady {
  readonly sandbox_base_url: string
  readonly console_url: string
  readonly keys: { readonly sandbox_secret: string }
  readonly dashboard: { readonly email: string; readonly password: string; readonly totp_secret: string }
}

/** Speaks with a running service. Unlike the tests' own `speak`, it does not check the responses against the documents. */
export function speakPlainly(url: string, key: string): Send {
  return async (path, { method, body, headers } = {}) => {
    const sent = new Headers({ Authorization: `Bearer ${key}` })
    if (body !== undefined) sent.set('Content-Type', 'application/json')
    if (body !== undefined) sent.set('Idempotency-Key', randomUUID())
    for (const [name, value] of Object.entries(headers ?? {})) if (value !== null) sent.set(name, value)
    const response = await fetch(url + path, {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: sent,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: text && JSON.parse(text) }
  }
}

/** Advances the sandbox clock of the service that the settings belong to. */
export async function advanceOneDay(env: Readonly<Record<string, string>>): Promise<void> {
  const { code, stderr } = await runAdmin(env, 'clock', 'advance', '--seconds', '86400')
  if (code !== 0) throw new Error(`admin clock advance: ${stderr}`)
}

/** Starts the service on an embedded database below the directory, and fills it. The data ends at the machine's time. */
export async function startDemo(directory: string, days: number) {
  const env = {
    DATA_DIR: directory,
    SVC_CLOCK: new Date(Date.now() - days * 86_400_000).toISOString(),
    SVC_WEBHOOK_ALLOW: '127.0.0.0/8',
  }
  const program = startService(env, ['--json', '--demo'])
  const receiver = await startReceiver()
  const stop = async () => {
    receiver.stop()
    await program.end()
  }
  try {
    const ready = (await program.ready()) as unknown as DemoReady
    const send = speakPlainly(ready.sandbox_base_url, ready.keys.sandbox_secret)
    await fillDemo(send, { days, nextDay: () => advanceOneDay(env), receiver: receiver.url })
    return { ready, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
