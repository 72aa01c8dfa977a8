import { type Html, html } from '../platform/html.ts'
import type { Challenge } from '../tenants/factors/factors.ts'
import { facts, field, notice } from './html/components.ts'
import { writePage } from './html/layout.ts'

/** In words, as what is yet to be done: `wipeSandbox` is "Wipe sandbox". */
function sayOperation(operationId: string): string {
  const words = operationId.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

export interface ChallengeForm {
  readonly challenge: Challenge
  /** Proves that the form is ours. */
  readonly guard: Html
  readonly fault?: string | undefined
  /** As it was typed before. */
  readonly email?: string | undefined
}

/** What is asked for, and the form. */
export function writeForm({ challenge, guard, fault, email = '' }: ChallengeForm): Html {
  const { tenantName, environment, operation, keyHint } = challenge
  return writePage({
    title: 'Confirm a request',
    narrow: true,
    content: html`${fault !== undefined && notice('bad', fault)}
<p>A program asks for something that a person has to confirm. Confirm it only if you expect it.</p>
${facts([
  ['What', sayOperation(operation)],
  ['Account', `${tenantName}, ${environment}`],
  ['Asked for by', keyHint === null ? 'an application that acts for you' : `the key that ends in ${keyHint}`],
])}
<form method="post">
${guard}
${field({ name: 'email', label: 'E-mail', type: 'email', autocomplete: 'username', value: email })}
${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' })}
${field({ name: 'code', label: 'Code of your authenticator app', inputMode: 'numeric', autocomplete: 'one-time-code' })}
<div class="actions"><button type="submit">Confirm</button></div>
</form>`,
  })
}

/** The factor, shown this once. */
export function writeFactor(factor: string): Html {
  return writePage({
    title: 'Confirmed',
    narrow: true,
    content: html`<p>Send the same request again with this header, once, within 10 minutes:</p>
<p><code>Service-Factor: ${factor}</code></p>
<p>It is shown this once and is good for this one request.</p>`,
  })
}
