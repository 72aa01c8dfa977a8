import { type Html, html } from '../../platform/html.ts'
import { facts, field, notice } from '../html/components.ts'
import { writePage } from '../html/layout.ts'
import type { SignedInMember } from './sessions.ts'

export interface SignInForm {
  /** Hidden field with the CSRF token. */
  readonly guard: Html
  /** Path of the console to open after sign-in. */
  readonly returnTo: string
  readonly fault?: string | undefined
  /** Notice above the form. */
  readonly told?: string | undefined
  /** Encrypted fields of another form, shown for review after sign-in. */
  readonly typed?: string | undefined
  /** The email address from the previous attempt. */
  readonly email?: string | undefined
  /** Passkey request options with their CSRF field. Absent if the console does not support passkeys. */
  readonly passkey?:
    | { readonly options: object; readonly challenge: string; readonly guard: Html }
    | undefined
}

export function writeSignIn(form: SignInForm): Html {
  const { guard, returnTo, fault, told, typed, email = '', passkey } = form
  const passedOn = html`<input type="hidden" name="return_to" value="${returnTo}">
${typed !== undefined && html`<input type="hidden" name="${TYPED_FIELD}" value="${typed}">`}`
  return writePage({
    title: 'Sign in',
    narrow: true,
    ...(passkey && { scripts: [PASSKEY_SCRIPT] }),
    content: html`${told !== undefined && notice('warn', told)}
${fault !== undefined && notice('bad', fault)}
<form method="post" action="/sign-in">
${guard}
${passedOn}
${field({ name: 'email', label: 'Email', type: 'email', autocomplete: 'username', value: email })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
${field({ name: 'code', label: 'Authenticator code', inputMode: 'numeric', autocomplete: 'one-time-code', hint: 'The six-digit code from your authenticator app, or a recovery code.' })}
<div class="actions"><button type="submit">Sign in</button></div>
</form>
${
  passkey &&
  html`<form method="post" action="/sign-in/passkey" data-passkey="${JSON.stringify(passkey.options)}" hidden>
${passkey.guard}
${passedOn}
<input type="hidden" name="challenge" value="${passkey.challenge}">
<input type="hidden" name="credential" value="">
<div class="actions"><button type="submit" class="second">Sign in with a passkey</button></div>
<p class="hint" role="status"></p>
</form>`
}`,
  })
}

/** Name of the sign-in field with the encrypted fields of another form. */
export const TYPED_FIELD = 'typed'

/** Path of the page that shows these fields for review. */
export const SEND_AGAIN_PATH = '/send-again'

/** The script of passkey forms. */
export const PASSKEY_SCRIPT = 'passkey.js'

export function writeSignOut(member: SignedInMember, guard: Html): Html {
  return writePage({
    title: 'Sign out',
    narrow: true,
    content: html`${facts([
      ['Signed in as', member.email],
      ['Role', member.role],
    ])}
<form method="post" action="/sign-out">
${guard}
<div class="actions">
<button type="submit" name="where" value="here">Sign out</button>
<button type="submit" name="where" value="everywhere" class="second">Sign out of all sessions</button>
</div>
</form>`,
  })
}

/** Writes the page shown after sign-out, or if the session has ended. */
export function writeSignedOut(text: string): Html {
  return writePage({
    title: 'Signed out',
    narrow: true,
    content: html`<p>${text}</p>
<div class="actions"><a class="button" href="/sign-in">Sign in</a></div>`,
  })
}
