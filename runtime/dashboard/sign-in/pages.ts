import { type Html, html } from '../../platform/html.ts'
import { facts, field, notice } from '../html/components.ts'
import { writePage } from '../html/layout.ts'
import type { SignedInMember } from './sessions.ts'

export interface SignInForm {
  /** Proves that the form is ours. */
  readonly guard: Html
  /** Where to go afterwards: a path of the console. */
  readonly returnTo: string
  readonly fault?: string | undefined
  /** What has to be known before. */
  readonly told?: string | undefined
  /** What was typed into another form, sealed: it is shown again afterwards. */
  readonly typed?: string | undefined
  /** As it was typed before. */
  readonly email?: string | undefined
  /** What a browser is asked for, and the field that proves its form is ours; absent where there are no passkeys. */
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
${field({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', value: email })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
${field({ name: 'code', label: 'Code of your authenticator app', inputMode: 'numeric', autocomplete: 'one-time-code', hint: 'Six digits, or one of your recovery codes. Each is good once.' })}
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

/** The field of the form of signing in that holds what was typed into another one. */
export const TYPED_FIELD = 'typed'

/** Where that is shown again. */
export const SEND_AGAIN_PATH = '/send-again'

/** The script of forms that want a passkey. */
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
<button type="submit" name="where" value="everywhere" class="second">Sign out everywhere</button>
</div>
</form>`,
  })
}

/** Said where there is no session any more, or none is left. */
export function writeSignedOut(text: string): Html {
  return writePage({
    title: 'Signed out',
    narrow: true,
    content: html`<p>${text}</p>
<div class="actions"><a class="button" href="/sign-in">Sign in</a></div>`,
  })
}
