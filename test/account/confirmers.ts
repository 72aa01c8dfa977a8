import { randomBytes, scryptSync } from 'node:crypto'
import { createServer } from 'node:http'
import express from 'express'
import { Secret, TOTP } from 'otpauth'
import { pino } from 'pino'
import type { MemberRole } from '../../runtime/account/members/users.ts'
import { createChallenges } from '../../runtime/dashboard/challenges.ts'
import { newId } from '../../runtime/platform/ids.ts'
import { seal } from '../../runtime/platform/secrets.ts'
import { insertMember } from '../../runtime/tenants/admin/tenants.ts'
import { createFactors, type Factors } from '../../runtime/tenants/factors/factors.ts'
import { totpContext } from '../../runtime/tenants/factors/totp-context.ts'
import type { TestService } from '../support/service.ts'

/** Machine time of a test, which codes follow: it stands still until it is moved. */
export interface MachineClock {
  now: number
  /** Moves on to where the window has codes that nobody has used. */
  toNewCodes(): void
}

/** Takes machine time into the test's hands; service time stays what it is. */
export function holdMachineClock(service: TestService): MachineClock {
  const machine: MachineClock = {
    now: Date.parse('2026-06-01T12:00:10Z'),
    toNewCodes: () => {
      machine.now += 90_000
    },
  }
  service.clock.machine = () => machine.now
  return machine
}

export interface Confirmer {
  readonly id: string
  readonly email: string
  readonly password: string
  /** The code that this member's app shows, so many steps from now. */
  code(steps?: number): string
}

let made = 0

/** Everybody's, hashed at a small cost: what a hash has to cost is for `test/tenants/keys/secrets.test.ts`. */
const PASSWORD = 'correct horse battery staple'
const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '')
const SALT = randomBytes(16)
const HASH = `$scrypt$ln=10,r=8,p=1$${text(SALT)}$${text(scryptSync(PASSWORD, SALT, 32, { N: 1024, r: 8, p: 1 }))}`

export async function makeConfirmer(
  { operator }: TestService,
  machine: MachineClock,
  tenantId: string,
  role: MemberRole = 'owner',
): Promise<Confirmer> {
  made += 1
  const id = newId('mem')
  const email = `Ada.${made}@example.com`
  const secret = new Secret({ size: 20 })
  const sealedTotp = seal(operator.pepper, secret.base32, totpContext(tenantId, id))
  const member = { id, email, role, passwordHash: HASH, sealedTotp }
  await operator.control.transaction((tx) => insertMember(tx, tenantId, member, machine.now))
  return {
    id,
    email,
    password: PASSWORD,
    code: (steps = 0) => new TOTP({ secret }).generate({ timestamp: machine.now + steps * 30_000 }),
  }
}

/** The console's pages of challenges, on a port of their own. */
export async function serveChallenges(
  { database, clock }: TestService,
  consoleUrl = 'http://console.example',
  faults: Partial<Factors> = {},
) {
  const factors = { ...createFactors(database.control, database.pepper, clock), ...faults }
  const log = pino({ level: 'silent' })
  const app = express().use(createChallenges({ factors, csrfKey: 'key', consoleUrl, proxies: 0, log }))
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the console has no port')
  return { origin: `http://127.0.0.1:${address.port}`, close: () => server.close() }
}

/** A form as a browser has it after opening its page. */
export interface OpenForm {
  readonly page: Response
  readonly html: string
  /** Sends it; members of `over` replace those of an honest browser. */
  send(
    fields: Readonly<Record<string, string>>,
    over?: { readonly csrf?: string; readonly cookie?: string; readonly headers?: Record<string, string> },
  ): Promise<{ readonly status: number; readonly html: string; readonly factor: string | undefined }>
}

export async function openForm(url: string): Promise<OpenForm> {
  const page = await fetch(url)
  const html = await page.text()
  const cookie = page.headers.get('Set-Cookie')?.split(';')[0] ?? ''
  const csrf = /name="csrf" value="([^"]*)"/.exec(html)?.[1] ?? ''
  return {
    page,
    html,
    async send(fields, over = {}) {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { Cookie: over.cookie ?? cookie, ...over.headers },
        body: new URLSearchParams({ csrf: over.csrf ?? csrf, ...fields }),
      })
      const text = await answer.text()
      return { status: answer.status, html: text, factor: /fct_[0-9A-Za-z]+/.exec(text)?.[0] }
    },
  }
}
