/** Forms that only our own pages can send: a nonce in a cookie, and its MAC in a hidden field. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Request, Response } from 'express'
import { type Html, html } from '../../platform/html.ts'
import { randomBase62 } from '../../tenants/keys/keys.ts'

const NONCE_LENGTH = 32
/** The hidden field that proves it. */
export const GUARD_FIELD = 'csrf'

export interface FormGuard {
  /**
   * Sets the cookie, unless the browser has it, and makes the hidden field of a form.
   *
   * @param about what the form is for, a path or an id: the field of one form does not fit another.
   * @param path below which the browser sends the cookie.
   */
  issue(response: Response, about: string, path: string): Html
  /** Whether the form was sent by a page of ours, in the browser that it was made for, about this. */
  isOwn(request: Request, about: string): boolean
}

export interface FormGuardParts {
  /** Key of the MAC. */
  readonly key: string
  readonly cookie: string
  readonly cookieSeconds: number
  /** The console is reached by https. */
  readonly secure: boolean
}

export function createFormGuard({ key, cookie, cookieSeconds, secure }: FormGuardParts): FormGuard {
  const pattern = new RegExp(`(?:^|;\\s*)${cookie}=([0-9A-Za-z]{${NONCE_LENGTH}})(?:;|$)`)
  // Forms of one page share it, and pages that are open beside each other.
  const nonces = new WeakMap<Response, string>()
  const nonceOf = (request: Request) => pattern.exec(request.get('Cookie') ?? '')?.[1]
  const sign = (nonce: string, about: string) =>
    createHmac('sha256', key).update(`${nonce} ${about}`).digest('base64url')
  return {
    issue: (response, about, path) => {
      const nonce = nonces.get(response) ?? nonceOf(response.req) ?? randomBase62(NONCE_LENGTH)
      if (!nonces.has(response)) {
        nonces.set(response, nonce)
        const attributes = `Path=${path}; Max-Age=${cookieSeconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
        response.append('Set-Cookie', `${cookie}=${nonce}; ${attributes}`)
      }
      return html`<input type="hidden" name="${GUARD_FIELD}" value="${sign(nonce, about)}">`
    },
    isOwn: (request, about) => {
      const site = request.get('Sec-Fetch-Site')
      if (site !== undefined && site !== 'same-origin') return false
      const nonce = nonceOf(request)
      if (nonce === undefined) return false
      const wanted = Buffer.from(sign(nonce, about))
      const sent = Buffer.from(formField(request, GUARD_FIELD))
      return sent.length === wanted.length && timingSafeEqual(sent, wanted)
    },
  }
}

/** The field of a code of the member's app. */
export const CODE_FIELD = 'code'

/** A field of the form that was sent; empty when it is missing, came twice or contains U+0000, which PostgreSQL cannot store. */
export function formField(request: Request, name: string): string {
  const body: unknown = request.body
  if (typeof body !== 'object' || body === null) return ''
  const value: unknown = Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' && !value.includes('\0') ? value : ''
}
