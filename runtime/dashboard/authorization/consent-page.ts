import { type Html, html } from '../../platform/html.ts'
import { codeField, facts, notice } from '../html/components.ts'
import { writePage } from '../html/layout.ts'

const WORDS: Readonly<Record<string, string>> = {
  read: 'View everything in the account',
  write: 'View and change everything in the account except its settings',
  admin: 'View and change everything in the account, including its settings',
  'pass:read': 'View passes and pass templates',
  'pass:write': 'View, create, and change passes and pass templates',
  'card:read': 'View cards, cardholders, card transactions, and disputes',
  'card:write': 'View, create, and change cards, cardholders, and disputes',
  'settlement:read': 'View settlements, payouts, and reports',
  'settlement:write': 'View settlements, payouts, and reports, and create payouts',
}

/** Describes the permissions of a scope. */
export const sayScope = (scope: string): string => WORDS[scope] ?? scope

export interface ConsentForm {
  readonly client: string
  /** Redirect target after the decision: a host, or the scheme of a native application. */
  readonly destination: string
  readonly account: string
  readonly environment: string
  readonly email: string
  /** Scopes that the member can grant. */
  readonly scopes: readonly string[]
  /** Requested scopes that the member's role cannot grant. */
  readonly withheld: readonly string[]
  readonly guard: Html
  readonly fault?: string
}

const list = (scopes: readonly string[]) =>
  html`<ul>
${scopes.map((scope) => html`<li>${sayScope(scope)} <code>${scope}</code></li>\n`)}</ul>`

export function writeConsent(form: ConsentForm): Html {
  const { client, destination, account, environment, email, scopes, withheld, guard, fault } = form
  return writePage({
    title: 'Allow access?',
    narrow: true,
    content: html`${fault !== undefined && notice('bad', fault)}
<p><strong>${client}</strong> requests access to ${account}.</p>
${facts([
  ['Account', `${account}, ${environment}`],
  ['Signed in as', email],
  ['Redirects to', destination],
])}
${scopes.length > 0 && html`<p>The application will be able to:</p>\n${list(scopes)}`}
${
  withheld.length > 0 &&
  html`<p>The application also requests permissions that your role cannot grant:</p>\n${list(withheld)}`
}
<p class="quiet">Allow access only if you expected this request. You can disconnect the application at any time.</p>
<form method="post">
${guard}
${scopes.length > 0 && codeField('consent')}
<div class="actions">
${scopes.length > 0 && html`<button name="decision" value="allow">Allow access</button>`}
<button name="decision" value="deny" class="second" formnovalidate>Deny access</button>
</div>
</form>`,
  })
}
