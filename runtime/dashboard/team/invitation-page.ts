/** The invitation page, on which a new member chooses a password and sets up an authenticator app. */
import type { OpenInvitation } from '../../account/members/invitations.ts'
import { type Html, html, trusted } from '../../platform/html.ts'
import { facts, field, notice } from '../html/components.ts'
import { writePage } from '../html/layout.ts'
import { MIN_PASSWORD } from '../sign-in/passwords.ts'

export interface JoinForm {
  readonly invitation: OpenInvitation
  /** Hidden field with the CSRF token. */
  readonly guard: Html
  /** TOTP secret in Base32. */
  readonly totp: string
  /** The secret as a QR code in SVG. Absent if it does not fit into a QR code. */
  readonly qr?: string | undefined
  /** The encrypted secret, which the form submits again so that it stays the same. */
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
  ['Email', email],
  ['Role', role],
])}
<form method="post">
${guard}
<input type="hidden" name="totp" value="${sealedTotp}">
<input class="visually-hidden" type="email" name="email" autocomplete="username" value="${email}" readonly tabindex="-1" aria-hidden="true">
${field({
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'new-password',
  hint: `At least ${MIN_PASSWORD} characters.`,
  fault: faults.password,
})}
<p>Scan this QR code with your authenticator app, or enter the key manually.</p>
${qr !== undefined && html`<div class="qr" role="img" aria-label="QR code with the authenticator key">${trusted(qr)}</div>`}
<p class="secret"><code>${totp.replaceAll(/.{4}(?=.)/g, '$& ')}</code></p>
${field({
  name: 'code',
  label: 'Authenticator code',
  inputMode: 'numeric',
  autocomplete: 'one-time-code',
  fault: faults.code,
})}
<div class="actions"><button type="submit">Join account</button></div>
</form>`,
  })
}

/** Returns the TOTP secret as an `otpauth://totp/…` URI, in the key URI format of Google Authenticator. */
export function writeKeyUri(email: string, account: string, secret: string): string {
  const label = `${encodeURIComponent(account)}:${encodeURIComponent(email)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(account)}`
}
