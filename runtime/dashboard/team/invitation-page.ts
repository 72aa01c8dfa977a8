/** What an invitation's link opens: a password is chosen, an authenticator app set up, and one is a member. */
import type { OpenInvitation } from '../../account/members/invitations.ts'
import { type Html, html, trusted } from '../../platform/html.ts'
import { facts, field, notice } from '../html/components.ts'
import { writePage } from '../html/layout.ts'
import { MIN_PASSWORD } from '../sign-in/passwords.ts'

export interface JoinForm {
  readonly invitation: OpenInvitation
  /** Proves that the form is ours. */
  readonly guard: Html
  /** Base32. */
  readonly totp: string
  /** The same as a QR code in SVG; absent where none holds it. */
  readonly qr?: string | undefined
  /** The same, so that the form brings it back unchanged. */
  readonly sealedTotp: string
  readonly faults?: Readonly<Partial<Record<'password' | 'code' | 'form', string>>>
}

export function writeJoin({ invitation, guard, totp, qr, sealedTotp, faults = {} }: JoinForm): Html {
  const { email, role, tenant_name } = invitation
  return writePage({
    title: `Join ${tenant_name}`,
    narrow: true,
    content: html`${faults.form !== undefined && notice('bad', faults.form)}
${facts([
  ['Account', tenant_name],
  ['You', email],
  ['Role', role],
])}
<form method="post">
${guard}
<input type="hidden" name="totp" value="${sealedTotp}">
<input class="visually-hidden" type="email" name="email" autocomplete="username" value="${email}" readonly tabindex="-1" aria-hidden="true">
${field({
  name: 'password',
  label: 'Choose a password',
  type: 'password',
  autocomplete: 'new-password',
  hint: `At least ${MIN_PASSWORD} characters.`,
  fault: faults.password,
})}
<p>Scan this with your authenticator app, or type the key into it.</p>
${qr !== undefined && html`<div class="qr" role="img" aria-label="Key of the authenticator app as a QR code">${trusted(qr)}</div>`}
<p class="secret"><code>${totp.replaceAll(/.{4}(?=.)/g, '$& ')}</code></p>
${field({
  name: 'code',
  label: 'The code that it shows',
  inputMode: 'numeric',
  autocomplete: 'one-time-code',
  fault: faults.code,
})}
<div class="actions"><button type="submit">Join</button></div>
</form>`,
  })
}

/** The key as authenticator apps read it from a QR code: `otpauth://totp/…`, of Google Authenticator's key URI format. */
export function writeKeyUri(email: string, account: string, secret: string): string {
  const label = `${encodeURIComponent(account)}:${encodeURIComponent(email)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(account)}`
}
