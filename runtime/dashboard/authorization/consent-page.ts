import { type Html, html } from '../../platform/html.ts'
import { codeField, facts, notice } from '../html/components.ts'
import { writePage } from '../html/layout.ts'

const WORDS: Readonly<Record<string, string>> = {
  read: 'See everything in the account',
  write: 'See and change everything in the account but its settings',
  admin: 'See and change everything in the account, its settings included',
  'pass:read': 'See passes and pass templates',
  'pass:write': 'See, make and change passes and pass templates',
  'card:read': 'See cards, cardholders, card transactions and disputes',
  'card:write': 'See, make and change cards, cardholders and disputes',
  'settlement:read': 'See settlements, payouts and reports',
  'settlement:write': 'See settlements, payouts and reports, and pay out',
}

/** What a scope lets an application do. */
export const sayScope = (scope: string): string => WORDS[scope] ?? scope

export interface ConsentForm {
  readonly client: string
  /** Where the browser goes afterwards: a host, or the application on this machine. */
  readonly destination: string
  readonly account: string
  readonly environment: string
  readonly email: string
  /** What it would be allowed. */
  readonly scopes: readonly string[]
  /** What it asked for beyond what the member may allow. */
  readonly withheld: readonly string[]
  readonly guard: Html
  readonly fault?: string
}

const list = (scopes: readonly string[]) =>
  html`<ul>
${scopes.map((scope) => html`<li>${sayScope(scope)} <code>${scope}</code></li>\n`)}</ul>`

/** Who asks, for what, in which account. */
export function writeConsent(form: ConsentForm): Html {
  const { client, destination, account, environment, email, scopes, withheld, guard, fault } = form
  return writePage({
    title: 'Allow access?',
    narrow: true,
    content: html`${fault !== undefined && notice('bad', fault)}
<p><strong>${client}</strong> asks to act for ${account}.</p>
${facts([
  ['Account', `${account}, ${environment}`],
  ['You are', email],
  ['You return to', destination],
])}
${scopes.length > 0 && html`<p>It will be able to:</p>\n${list(scopes)}`}
${
  withheld.length > 0 &&
  html`<p>It also asks for what your role does not let you allow:</p>\n${list(withheld)}`
}
<p class="quiet">Allow it only if you expected this page. Access ends when you or an operator takes it back.</p>
<form method="post">
${guard}
${scopes.length > 0 && codeField('consent')}
<div class="actions">
${scopes.length > 0 && html`<button name="decision" value="allow">Allow</button>`}
<button name="decision" value="deny" class="second" formnovalidate>Deny</button>
</div>
</form>`,
  })
}
