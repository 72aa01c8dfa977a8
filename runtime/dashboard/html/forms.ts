/** CSRF protection: a nonce in a cookie, and its MAC in a hidden field of each form. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Request, Response } from 'express'
import { type Html, html } from '../../platform/html.ts'
import { randomBase62 } from '../../tenants/keys/keys.ts'

const NONCE_LENGTH = 32
/** Name of the hidden field with the CSRF token. */
export const GUARD_FIELD = 'csrf'

export interface FormGuard {
  /**
   * Sets the cookie unless the browser already has it, and returns the hidden field of a form.
   *
   * @param about purpose of the form, a path or an ID. The token is not valid for another purpose.
   * @param path cookie path.
   */
  issue(response: Response, about: string, path: string): Html
  /** Whether the form contains a token that was issued to this browser for this purpose. */
  isOwn(request: Request, about: string): boolean
}

export interface FormGuardParts {
  readonly key: string
  readonly cookie: string
  readonly cookieSeconds: number
  /** Whether the console uses HTTPS. */
  readonly secure: boolean
}

export function createFormGuard({ key, cookie, cookieSeconds, secure }: FormGuardParts): FormGuard {
  const pattern = new RegExp(`(?:^|;\\s*)${cookie}=([0-9A-Za-z]{${NONCE_LENGTH}})(?:;|$)`)
  // All forms of a page, and all open pages of a browser, share one nonce.
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

/** Shown above the form again if its CSRF token is missing or not valid. */
export const FORM_EXPIRED = 'The form has expired. Fill it in again.'

/** Name of the field with the authenticator code. */
export const CODE_FIELD = 'code'

/** Returns a submitted field. Returns an empty string if it is missing, repeated, or contains U+0000, which PostgreSQL cannot store. */
export function formField(request: Request, name: string): string {
  const [value = '', ...more] = formFields(request, name)
  return more.length === 0 ? value : ''
}

/** Returns the values of a field that can be submitted several times, without those that contain U+0000. */
export function formFields(request: Request, name: string): readonly string[] {
  const body: unknown = request.body
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return []
  const values: readonly unknown[] = [(body as Record<string, unknown>)[name]].flat()
  return values.filter((value): value is string => typeof value === 'string' && !value.includes('\0'))
}

/** Returns the names of all submitted fields. */
export const fieldNames = ({ body }: Request): readonly string[] => Object.keys((body ?? {}) as object)
