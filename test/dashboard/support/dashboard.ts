/** The dashboard on a port of its own, over a service of its own, for members who are signed in without the form. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { TOTP } from 'otpauth'
import { pino } from 'pino'
import { expect } from 'vitest'
import { createUser } from '../../../runtime/account/members/users.ts'
import type { VisitRole } from '../../../runtime/dashboard/engine/visit.ts'
import { serveAssets } from '../../../runtime/dashboard/html/assets.ts'
import { createDashboard } from '../../../runtime/dashboard/pages/dashboard.ts'
import type { Watching } from '../../../runtime/dashboard/pages/watch/watching.ts'
import { createSessions, type SignedInMember } from '../../../runtime/dashboard/sign-in/sessions.ts'
import { createSignIn } from '../../../runtime/dashboard/sign-in/sign-in.ts'
import { createJoin } from '../../../runtime/dashboard/team/join.ts'
import { createBarcodes } from '../../../runtime/passes/wallets/pages/barcodes.ts'
import { createWrongCodes } from '../../../runtime/tenants/factors/wrong-codes.ts'
import { makeTenant, type ServiceOptions, startTestService, type TestService } from '../../support/service.ts'

export interface TestDashboard {
  readonly service: TestService
  /** What the table of routes is made with. */
  readonly watching: Watching
  readonly origin: string
  /** Makes a member of the tenant and signs in; gives what stands in the cookie. */
  signIn(tenantId: string, role: VisitRole): Promise<Visitor>
  stop(): Promise<void>
}

export interface Visitor extends Pick<SignedInMember, 'tenantId' | 'memberId' | 'email' | 'role'> {
  readonly cookie: string
  readonly password: string
  /** What the member's authenticator app shows so many steps from now. */
  code(steps?: number): string
  /** A code that was not used yet: each is good once, and the next comes in half a minute. */
  freshCode(): Promise<string>
}

export interface DashboardOptions extends ServiceOptions {
  /** At the name localhost and with its pages of signing in, as passkeys need it. */
  readonly named?: boolean
}

export async function startDashboard({ named, ...options }: DashboardOptions = {}): Promise<TestDashboard> {
  const service = await startTestService({ logsRequests: true, ...options })
  const { control, pepper } = service.database
  const clock = { machine: Date.now, service: () => service.clock.now }
  const sessions = createSessions({ control, pepper, clock, secure: false })
  const barcodes = createBarcodes()
  const watching = {
    operator: service.operator,
    databases: service.database,
    streams: service.streams,
    wrongCodes: createWrongCodes(control, clock, () => {}),
  }
  const app = express()
  const server = createServer(app)
  // A test may do other things for long, and then send on the same connection.
  server.keepAliveTimeout = 60_000
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const origin = named ? `http://localhost:${port}` : `http://127.0.0.1:${port}`
  app.get('/begin/:tenantId/:memberId', async (request, response) => {
    await sessions.begin(request, response, { ...request.params, ip: '127.0.0.1' })
    response.end()
  })
  serveAssets(app)
  const parts = {
    sessions,
    operate: service.operate,
    dryRun: service.dryRun,
    barcodes,
    ...watching,
    csrfKey: 'key of the forms',
    consoleUrl: named ? origin : 'http://127.0.0.1',
    apiUrls: service.urls,
    proxies: 0,
    log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
  }
  if (named) app.use(createSignIn({ ...parts, control, pepper, clock: service.clock }))
  app.use(createJoin(parts), createDashboard(parts))
  return {
    service,
    watching,
    origin,
    async signIn(tenantId, role) {
      const email = `${role}@example.com`
      const user = await createUser(service.operator, { tenantId, email, role })
      const { id, password, totp_secret: secret } = user
      const member = { tenantId, memberId: id, email, role }
      const begun = await fetch(`${origin}/begin/${tenantId}/${id}`)
      const code = (steps = 0) =>
        new TOTP({ secret }).generate({ timestamp: service.clock.machine() + steps * 30_000 })
      const freshCode = async () => {
        const text = 'DELETE FROM control.totp_uses WHERE tenant_id = $1 AND member_id = $2'
        await control.query({ text }, [tenantId, id])
        return code()
      }
      return { ...member, password, code, freshCode, cookie: begun.headers.getSetCookie()[0]!.split(';')[0]! }
    },
    async stop() {
      server.close()
      server.closeAllConnections()
      await barcodes.stop()
      await service.stop()
    },
  }
}

export interface PageAnswer {
  readonly status: number
  readonly location: string | null
  readonly text: string
  readonly headers: Headers
  /** The cookie of forms. */
  readonly cookie: string
}

/** A browser without scripts: it keeps the cookie of forms and sends what stands in them. */
export class Browser {
  readonly #origin: string
  readonly #cookies = new Map<string, string>()
  readonly #freshCode: (() => Promise<string>) | undefined

  /** @param member whose codes are typed where a form takes one; absent: none is. */
  constructor(origin: string, session: string, member?: Pick<Visitor, 'freshCode'>) {
    this.#origin = origin
    this.#freshCode = member?.freshCode
    const [name, value] = session.split('=', 2)
    if (name && value) this.#cookies.set(name, value)
  }

  async get(path: string): Promise<PageAnswer> {
    return this.#send(path, {})
  }

  /** Sends fields as they are. */
  async post(path: string, fields: Readonly<Record<string, string>> | URLSearchParams): Promise<PageAnswer> {
    return this.#send(path, { method: 'POST', body: new URLSearchParams(fields) })
  }

  /** Sends fields, and files as PNG, as a form with files does. */
  async upload(
    path: string,
    fields: Readonly<Record<string, string>>,
    files: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {},
  ): Promise<PageAnswer> {
    const body = new FormData()
    for (const [name, value] of Object.entries(fields)) body.set(name, value)
    for (const [name, bytes] of Object.entries(files)) body.set(name, new Blob([bytes]), `${name}.png`)
    return this.#send(path, { method: 'POST', body })
  }

  /** Loads a page, fills in the form that goes to the address, and sends it. */
  async submit(page: string, action: string, typed: Readonly<Record<string, string>> = {}) {
    const fill = async (text: string) => ({
      ...hiddenFields(text, action),
      ...(!('code' in typed) && (await this.#codeFor(text, action))),
    })
    const shown = await this.get(page)
    const sent = await this.post(action, { ...(await fill(shown.text)), ...typed })
    const asked = sent.status === 403 && sent.text.includes(`action="${action}"`) ? await fill(sent.text) : {}
    // A button without fields leads to a page that asks for the code.
    return 'code' in asked ? this.post(action, asked) : sent
  }

  /** A code, where the form that goes to the address takes one. */
  async #codeFor(text: string, action: string): Promise<{ readonly code: string } | undefined> {
    const form = text.split('<form').find((each) => each.includes(`action="${action}"`))
    if (!this.#freshCode || !form?.includes('name="code"')) return undefined
    return { code: await this.#freshCode() }
  }

  async #send(path: string, init: RequestInit): Promise<PageAnswer> {
    const response = await fetch(this.#origin + path, {
      ...init,
      redirect: 'manual',
      headers: {
        Cookie: [...this.#cookies].map((pair) => pair.join('=')).join('; '),
        Accept: 'text/html',
      },
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.#cookies.set(name, value)
    }
    return {
      status: response.status,
      location: response.headers.get('Location'),
      text: await response.text(),
      headers: response.headers,
      cookie: `svc_form=${this.#cookies.get('svc_form') ?? ''}`,
    }
  }
}

/** The hidden fields of the form that is sent to an address. @throws when the page has none. */
export function hiddenFields(text: string, action: string): Record<string, string> {
  const form = text.split('<form').find((each) => each.includes(`action="${action}"`))
  if (form === undefined) throw new Error(`no form goes to ${action}`)
  const inputs = form.split('</form>')[0]!.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)
  return Object.fromEntries([...inputs].map(([, name, value]) => [name!, value!.replaceAll('&amp;', '&')]))
}

/** Messages of a stream until there are so many; the connection is closed then. */
export async function readMessages(url: string, count: number, cookie: string): Promise<string[]> {
  const closing = new AbortController()
  const response = await fetch(url, {
    headers: { Cookie: cookie, Accept: 'text/event-stream' },
    redirect: 'manual',
    signal: closing.signal,
  })
  expect([url, response.status, response.headers.get('Content-Type')]).toEqual([
    url,
    200,
    'text/event-stream; charset=utf-8',
  ])
  let text = ''
  const messages = () => text.split('\n\n').filter((each) => each.includes('data: '))
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    if (messages().length >= count) break
  }
  closing.abort()
  return messages()
}

export { makeTenant }
