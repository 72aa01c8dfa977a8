/** The sign-in page, shown at its own path or instead of a page that requires a session. */
import type { Response } from 'express'
import type { Clock } from '../../tenants/clock/clock.ts'
import { createFormGuard, type FormGuard } from '../html/forms.ts'
import { sendPage } from '../html/layout.ts'
import { type SignInForm, writeSignIn } from './pages.ts'
import { makeChallenge, relyingPartyOf, requestOptions } from './passkeys.ts'

export const SIGN_IN_PATH = '/sign-in'
export const PASSKEY_PATH = '/sign-in/passkey'

const FORM_SECONDS = 3600

export interface SignInPageParts {
  readonly pepper: string
  readonly clock: Clock
  readonly csrfKey: string
  /** Origin of the console. */
  readonly consoleUrl: string
}

export interface SignInPage {
  readonly forms: FormGuard
  show(response: Response, status: number, said: Omit<SignInForm, 'guard' | 'passkey'>): void
}

export function createSignInPage({ pepper, clock, csrfKey, consoleUrl }: SignInPageParts): SignInPage {
  const forms = createFormGuard({
    key: csrfKey,
    cookie: 'svc_sign_in',
    cookieSeconds: FORM_SECONDS,
    secure: consoleUrl.startsWith('https:'),
  })
  const party = relyingPartyOf(consoleUrl)
  return {
    forms,
    show(response, status, said) {
      const challenge = makeChallenge(pepper, PASSKEY_PATH, clock.machine())
      const passkey = party && {
        challenge,
        options: requestOptions(party, challenge),
        // Binds the challenge to this browser.
        guard: forms.issue(response, `${PASSKEY_PATH} ${challenge}`, SIGN_IN_PATH),
      }
      const guard = forms.issue(response, SIGN_IN_PATH, SIGN_IN_PATH)
      sendPage(response, status, writeSignIn({ ...said, guard, passkey }))
    },
  }
}
