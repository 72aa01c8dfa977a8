/** What a member signs in with: the password, passkeys and recovery codes, changed with a code of the member's app. */
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { codeField, field, notice } from '../../page/components.ts'
import { formField } from '../../page/forms.ts'
import {
  changePassword,
  makeRecoveryCodes,
  NOT_CONFIRMED,
  type OwnParts,
  RECOVERY_CODES,
} from '../../sign-in/own-credentials.ts'
import { PASSKEY_SCRIPT } from '../../sign-in/pages.ts'
import { faultOfPassword, MIN_PASSWORD } from '../../sign-in/passwords.ts'
import { countRecoveryCodes } from '../../sign-in/queries.ts'
import type { SendFramed } from '../shape/frame.ts'
import type { Route } from '../shape/routes.ts'
import type { Visit } from '../shape/visit.ts'
import { dropPasskey, type PasskeySaid, savePasskey, writePasskeys } from './passkeys.ts'

export const SECURITY_PATH = 'security'

const TITLE = 'Your sign-in'

/** What is said above one of the forms, or beside one of its fields. */
interface Said extends PasskeySaid {
  readonly done?: string
  readonly wrong?: 'password' | 'recovery-codes'
  readonly fault?: string | undefined
}

export function securityRoutes(send: SendFramed, parts: Pick<OwnParts, 'wrongCodes'>): Route[] {
  return ENVIRONMENTS.flatMap((environment): Route[] => {
    const page = `/${environment}/${SECURITY_PATH}`
    const own = { environment, needs: 'viewer' } as const
    return [
      { ...own, method: 'GET', path: page, handle: (visit) => show(visit, send) },
      {
        ...own,
        method: 'POST',
        path: `${page}/password`,
        handle: (visit) => savePassword(visit, parts, send),
      },
      {
        ...own,
        method: 'POST',
        path: `${page}/recovery-codes`,
        handle: (visit) => saveCodes(visit, parts, send),
      },
      {
        ...own,
        method: 'POST',
        path: `${page}/passkeys`,
        handle: async (visit) => show(visit, send, await savePasskey(visit, parts)),
      },
      {
        ...own,
        method: 'POST',
        path: `${page}/passkeys/remove`,
        handle: async (visit) => show(visit, send, await dropPasskey(visit, parts)),
      },
    ]
  })
}

async function savePassword(visit: Visit, parts: Pick<OwnParts, 'wrongCodes'>, send: SendFramed) {
  const { operator, member, address: ip, sessionDigest: session, request } = visit
  const [current, next, code] = ['current', 'next', 'code'].map((name) => formField(request, name))
  const fault = faultOfPassword(next!, member.email)
  if (fault !== undefined) return show(visit, send, { fault })
  const given = { current: current!, next: next!, code: code! }
  const isChanged = await changePassword({ ...parts, operator }, { ...member, ip, session }, given)
  if (!isChanged) return show(visit, send, { wrong: 'password' })
  return show(visit, send, { done: 'Your password is another one. Your other sessions have ended.' })
}

async function saveCodes(visit: Visit, parts: Pick<OwnParts, 'wrongCodes'>, send: SendFramed) {
  const { operator, member, address: ip, request } = visit
  const codes = await makeRecoveryCodes({ ...parts, operator }, { ...member, ip }, formField(request, 'code'))
  if (!codes) return show(visit, send, { wrong: 'recovery-codes' })
  const content = html`${notice('warn', 'These are shown once. Keep them where your telephone is not: on paper, or in a password manager.')}
<ul class="secret">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<div class="actions"><a class="button" href="/${visit.environment}/${SECURITY_PATH}">I have kept them</a></div>`
  send(visit, 200, { title: 'Your recovery codes', path: SECURITY_PATH, content })
}

async function show(visit: Visit, send: SendFramed, said: Said = {}): Promise<void> {
  const { operator, member } = visit
  const left = await countRecoveryCodes(operator.control, member.tenantId, member.memberId)
  const content = html`${said.done !== undefined && notice('good', said.done)}
<p class="quiet">What you sign in with as ${member.email}, in the sandbox and live alike.</p>
<h2>Password</h2>
${said.wrong === 'password' && notice('bad', NOT_CONFIRMED)}
${formTo(
  visit,
  'password',
  // For managers of passwords: whose password it is.
  html`<input type="text" name="username" autocomplete="username" value="${member.email}" readonly hidden>
${field({ name: 'current', label: 'Password now', type: 'password', autocomplete: 'current-password' })}
${field({ name: 'next', label: 'New password', type: 'password', autocomplete: 'new-password', hint: `At least ${MIN_PASSWORD} characters.`, fault: said.fault })}
${codeField('password')}`,
  'Change the password',
)}
${await writePasskeys(visit, `/${visit.environment}/${SECURITY_PATH}/passkeys`, said)}
<h2>Recovery codes</h2>
<p>When the telephone with your authenticator app is gone, one of them takes the place of its code, once. ${left === 0 ? 'You have none.' : `${left} of ${RECOVERY_CODES} are left.`}</p>
${said.wrong === 'recovery-codes' && notice('bad', NOT_CONFIRMED)}
${formTo(visit, 'recovery-codes', codeField('recovery-codes'), left === 0 ? 'Make recovery codes' : 'Make new ones in their place')}`
  const isRefused = said.wrong !== undefined || said.fault !== undefined || said.passkey?.mood === 'bad'
  send(visit, isRefused ? 422 : 200, {
    title: TITLE,
    path: SECURITY_PATH,
    scripts: [PASSKEY_SCRIPT],
    content,
  })
}

function formTo(visit: Visit, name: string, fields: Html, button: string): Html {
  const address = `/${visit.environment}/${SECURITY_PATH}/${name}`
  return html`<form method="post" action="${address}">
${visit.guard(address)}
${fields}
<div class="actions"><button type="submit">${button}</button></div>
</form>`
}
