/** The authorization server on a port of its own, over a test's service, and a browser that goes through it. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Request, type Response } from 'express'
import { TOTP } from 'otpauth'
import { pino } from 'pino'
import { createUser, type MemberRole } from '../../../runtime/account/members/users.ts'
import { createOauthClient, type OauthClientInput } from '../../../runtime/account/oauth/clients.ts'
import { createAuthorization } from '../../../runtime/dashboard/authorization/authorization.ts'
import {
  createSessions,
  type Sessions,
  type SignedInMember,
} from '../../../runtime/dashboard/sign-in/sessions.ts'
import { createWrongCodes } from '../../../runtime/tenants/factors/wrong-codes.ts'
import { createLimiter } from '../../../runtime/tenants/limits/limiter.ts'
import { makeTenant, type TestService } from '../../support/service.ts'

export const REDIRECT = 'https://app.example/callback'

/** A node's console. */
export interface Console {
  readonly url: string
  readonly sessions: Sessions
  stop(): void
}

/** @param consoleUrl of the first node's console, where this is a further node behind the same address. */
export async function startConsole(
  service: TestService,
  consoleUrl?: string,
  limiter = createLimiter(),
): Promise<Console> {
  let handler: RequestListener = () => {}
  const server: Server = createServer((request, response) => handler(request, response))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { control, pepper } = service.database
  const sessions = createSessions({ control, pepper, clock: service.clock, secure: false })
  handler = express().use(
    createAuthorization({
      control,
      pepper,
      clock: service.clock,
      consoleUrl: consoleUrl ?? url,
      proxies: 0,
      limiter,
      log: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
      csrfKey: 'key of the forms',
      sessions,
      operator: service.operator,
      wrongCodes: createWrongCodes(control, service.clock, () => {}),
    }),
  )
  return { url, sessions, stop: () => void server.close() }
}

/** A member and the cookie of a session of theirs. */
export interface SignedIn extends Pick<SignedInMember, 'tenantId' | 'memberId' | 'email' | 'role'> {
  readonly cookie: string
  /** A code of the member's app that was not used yet. */
  freshCode(): Promise<string>
}

/** Someone of a tenant, signed in. */
export async function signIn(
  service: TestService,
  { sessions }: Console,
  role: MemberRole = 'owner',
  tenant?: string,
): Promise<SignedIn> {
  const tenantId = tenant ?? (await makeTenant(service))
  const email = `${randomUUID()}@harbour.example`
  const { id: memberId, totp_secret: secret } = await createUser(service.operator, { tenantId, email, role })
  const cookies: string[] = []
  const request = { get: () => undefined } as unknown as Request
  const response = { append: (_name: string, line: string) => cookies.push(line) } as unknown as Response
  await sessions.begin(request, response, { tenantId, memberId, ip: '127.0.0.1' })
  const freshCode = async () => {
    const text = 'DELETE FROM control.totp_uses WHERE tenant_id = $1 AND member_id = $2'
    await service.database.control.query({ text }, [tenantId, memberId])
    return new TOTP({ secret }).generate({ timestamp: service.clock.machine() })
  }
  return { tenantId, memberId, email, role, cookie: cookies[0]!, freshCode }
}

export function registerClient(service: TestService, given: Partial<OauthClientInput> = {}) {
  return createOauthClient(service.operator, {
    name: 'Loyalty Ltd',
    environment: 'sandbox',
    redirectUris: [REDIRECT],
    scopes: ['read', 'write', 'pass:read', 'pass:write'],
    confidential: false,
    ...given,
  })
}

/** What was shown last, and where the browser stands. */
export interface Page {
  readonly status: number
  readonly url: URL
  readonly headers: Headers
  readonly text: string
}

/** Keeps cookies as a browser does, those of a path for that path, and goes no further than the console's origin. */
export class Browser {
  readonly #origin: string
  readonly #cookies = new Map<string, { value: string; path: string }>()

  constructor(origin: string, member?: SignedIn) {
    this.#origin = origin
    if (member) this.#keep(member.cookie)
  }

  /** Follows redirects until a page, or an address elsewhere: that one is in `url`. */
  async go(target: string | URL, init: RequestInit = {}): Promise<Page> {
    const url = new URL(target, this.#origin)
    const headers = new Headers(init.headers)
    headers.set('Cookie', this.#cookiesFor(url.pathname))
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) this.#keep(line)
    const location = response.headers.get('Location')
    const next = location === null ? undefined : new URL(location, url)
    if (next && next.origin === this.#origin && next.pathname !== '/sign-in') return this.go(next)
    return {
      status: response.status,
      url: next ?? url,
      headers: response.headers,
      text: await response.text(),
    }
  }

  /** Sends the form of a page. */
  submit(page: Page, fields: Readonly<Record<string, string>>, init: RequestInit = {}): Promise<Page> {
    const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]+)">/g)]
    const body = new URLSearchParams(fields)
    for (const [, name = '', value = ''] of hidden) body.set(name, value)
    return this.go(page.url, { ...init, method: 'POST', body })
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/; */)
    const name = pair.slice(0, pair.indexOf('='))
    const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/'
    const value = pair.slice(name.length + 1)
    if (value === '') this.#cookies.delete(name)
    else this.#cookies.set(name, { value, path })
  }

  #cookiesFor(path: string): string {
    const fitting = [...this.#cookies].filter(([, cookie]) => path.startsWith(cookie.path))
    return fitting.map(([name, { value }]) => `${name}=${value}`).join('; ')
  }
}
