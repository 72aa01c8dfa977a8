import { type Html, html } from '../platform/html.ts'
import type { Challenge } from '../tenants/factors/factors.ts'
import { facts, field, notice } from './html/components.ts'
import { writePage } from './html/layout.ts'

/** Converts an operation ID to words: `wipeSandbox` becomes "Wipe sandbox". */
function sayOperation(operationId: string): string {
  const words = operationId.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export interface ChallengeForm {
  readonly challenge: Challenge
  /** Hidden field with the CSRF token. */
  readonly guard: Html
  readonly fault?: string | undefined
  /** The email address from the previous attempt. */
  readonly email?: string | undefined
}

/** Writes the page that describes the request and asks for confirmation. */
export function writeForm({ challenge, guard, fault, email = '' }: ChallengeForm): Html {
  const { tenantName, environment, operation, keyHint } = challenge
  return writePage({
    title: 'Confirm request',
    narrow: true,
    content: html`${fault !== undefined && notice('bad', fault)}
<p>An API request requires your confirmation. Confirm it only if you expect this request.</p>
${facts([
  ['Operation', sayOperation(operation)],
  ['Account', `${tenantName}, ${environment}`],
  ['Requested by', keyHint === null ? 'A connected app' : `API key ending in ${keyHint}`],
])}
<form method="post">
${guard}
${field({ name: 'email', label: 'Email', type: 'email', autocomplete: 'username', value: email })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
${field({ name: 'code', label: 'Authenticator code', inputMode: 'numeric', autocomplete: 'one-time-code' })}
<div class="actions"><button type="submit">Confirm request</button></div>
</form>`,
  })
}

/** Writes the page that shows the factor. It is shown only once. */
export function writeFactor(factor: string): Html {
  return writePage({
    title: 'Request confirmed',
    narrow: true,
    content: html`<p>Send the same request again with this header within 10 minutes:</p>
<p><code>Service-Factor: ${factor}</code></p>
<p>This value is shown only once. It is valid for one request.</p>`,
  })
}
