/** Member sessions, stored in the database, so that they are valid and end on all nodes at the same time. */
import type { Request, Response } from 'express'
import type { MemberRole } from '../../account/members/users.ts'
import type { Database } from '../../database/database.ts'
import type { Pool } from '../../database/pool/pool.ts'
import type { Clock } from '../../tenants/clock/clock.ts'
import { digestKey, randomBase62 } from '../../tenants/keys/keys.ts'
import { deleteSession, deleteSessions, findSession, insertSession, seeSession } from './queries.ts'

/** A signed-in member, with the current role. */
export interface SignedInMember {
  readonly tenantId: string
  readonly memberId: string
  readonly email: string
  readonly role: MemberRole
  readonly tenantName: string
  /** IANA name. Null until the member chooses a time zone. */
  readonly timeZone: string | null
  /** Digest under which the session is stored. */
  readonly session: Buffer
}

export interface Sessions {
  /** Returns the member of the session in the cookie, or undefined without a valid session. */
  find(request: Request): Promise<SignedInMember | undefined>
  /**
   * Starts a new session and sets its cookie. The session of the request, if any, ends.
   *
   * @param also work in the same transaction.
   */
  begin(request: Request, response: Response, member: SignedIn, also?: InTransaction): Promise<void>
  /** Ends the session of the request and deletes its cookie. @param also work in the same transaction. */
  end(request: Request, response: Response, also?: InTransaction): Promise<void>
  /** Ends all sessions of the member. @returns the number of sessions. */
  endAll(tx: Database, member: Pick<SignedInMember, 'tenantId' | 'memberId'>): Promise<number>
}

export type InTransaction = (tx: Database) => Promise<void>

export interface SignedIn extends Pick<SignedInMember, 'tenantId' | 'memberId'> {
  readonly ip: string
}

const DAY_MS = 24 * 3_600_000

/** Maximum age of a session, regardless of activity. */
const MAX_AGE_MS = 7 * DAY_MS

/** A session ends after this time without a request. */
export const MAX_IDLE_MS = DAY_MS / 2

const SEEN_EVERY_MS = 60_000

/** Maximum number of other sessions that are kept when a session starts. */
const MAX_OTHERS = 19

/** 43 base62 characters are 256 bits. */
const SECRET_LENGTH = 43

/** The tenant ID and the secret. */
const COOKIE_VALUE = /^(ten_[0-9a-z]{26})\.([0-9A-Za-z]{43})$/

const MAX_USER_AGENT = 200

export interface SessionParts {
  readonly control: Pool
  readonly pepper: string
  readonly clock: Clock
  /** Whether the console uses HTTPS. */
  readonly secure: boolean
}

export function createSessions({ control, pepper, clock, secure }: SessionParts): Sessions {
  // The prefix prevents other hosts of the same domain from setting the cookie (RFC 6265bis, 4.1.3.2).
  const name = secure ? '__Host-svc_session' : 'svc_session'
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`
  const read = (request: Request) => {
    const [, tenantId, secret] = COOKIE_VALUE.exec(cookieOf(request, name) ?? '') ?? []
    return tenantId === undefined ? undefined : { tenantId, digest: digestKey(pepper, secret!) }
  }
  return {
    async find(request) {
      const named = read(request)
      if (!named) return undefined
      const now = clock.machine()
      const row = await findSession(control, named.tenantId, named.digest, now, now - MAX_IDLE_MS)
      if (!row) return undefined
      if (now - row.seen_at > SEEN_EVERY_MS) await seeSession(control, named.tenantId, named.digest, now)
      const { member_id: memberId, email, role, tenant_name: tenantName, time_zone: timeZone } = row
      return { tenantId: named.tenantId, memberId, email, role, tenantName, timeZone, session: named.digest }
    },

    async begin(request, response, { tenantId, memberId, ip }, also = async () => {}) {
      const before = read(request)
      const secret = randomBase62(SECRET_LENGTH)
      const now = clock.machine()
      const session = {
        tenantId,
        digest: digestKey(pepper, secret),
        memberId,
        now,
        expiresAt: now + MAX_AGE_MS,
        ip,
        userAgent: (request.get('User-Agent') ?? '').slice(0, MAX_USER_AGENT),
      }
      await control.transaction(async (tx) => {
        if (before) await deleteSession(tx, before.tenantId, before.digest)
        await insertSession(tx, session, MAX_OTHERS)
        await also(tx)
      })
      response.append(
        'Set-Cookie',
        `${name}=${tenantId}.${secret}; Max-Age=${MAX_AGE_MS / 1000}; ${attributes}`,
      )
    },

    async end(request, response, also = async () => {}) {
      const named = read(request)
      await control.transaction(async (tx) => {
        if (named) await deleteSession(tx, named.tenantId, named.digest)
        await also(tx)
      })
      response.append('Set-Cookie', `${name}=; Max-Age=0; ${attributes}`)
    },

    endAll: (tx, { tenantId, memberId }) => deleteSessions(tx, tenantId, memberId),
  }
}

/** Returns the first cookie with the name. */
export function cookieOf(request: Request, name: string): string | undefined {
  for (const pair of (request.get('Cookie') ?? '').split(';')) {
    const equals = pair.indexOf('=')
    if (pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}
