/** Messages about a member's last action. A signed cookie carries a message to the next page, which shows it once. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Request, Response } from 'express'

const COOKIE = 'svc_done'
const SECONDS = 60
const VALUE = new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]+)\\.([\\w-]{43})(?:;|$)`)

export interface Toasts {
  /** Sets the message for the member's next page. @param about the member. */
  put(response: Response, about: string, text: string): void
  /** Returns the message and deletes it. Undefined if there is no message for this member. */
  take(request: Request, response: Response, about: string): string | undefined
}

/** @param secure whether the console uses HTTPS. */
export function createToasts(key: string, secure: boolean): Toasts {
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  const sign = (about: string, text: string) =>
    createHmac('sha256', key).update(`toast ${about} ${text}`).digest('base64url')
  return {
    put(response, about, text) {
      const value = `${Buffer.from(text).toString('base64url')}.${sign(about, text)}`
      response.append('Set-Cookie', `${COOKIE}=${value}; Max-Age=${SECONDS}; ${attributes}`)
    },
    take(request, response, about) {
      const [, encoded, mac] = VALUE.exec(request.get('Cookie') ?? '') ?? []
      if (encoded === undefined || mac === undefined) return undefined
      response.append('Set-Cookie', `${COOKIE}=; Max-Age=0; ${attributes}`)
      const text = Buffer.from(encoded, 'base64url').toString()
      return timingSafeEqual(Buffer.from(mac), Buffer.from(sign(about, text))) ? text : undefined
    },
  }
}

/** Participles that do not follow from the verb. */
const PARTICIPLES: Readonly<Record<string, string>> = {
  freeze: 'frozen',
  unfreeze: 'unfrozen',
  send: 'sent',
  withdraw: 'withdrawn',
  submit: 'submitted',
  retry: 'retried',
}

/** Returns what the action of a button did: "Freeze card" becomes "Card frozen". */
export function doneOf(button: string): string {
  const [verb = '', ...rest] = button.split(' ')
  const stem = verb.toLowerCase()
  const participle = PARTICIPLES[stem] ?? `${stem}${stem.endsWith('e') ? 'd' : 'ed'}`
  const text = [...rest, participle].join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}
