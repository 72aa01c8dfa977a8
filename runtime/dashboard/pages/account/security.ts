/** The security page: password, passkeys, and recovery codes. Each change requires an authenticator code. */
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import type { SendFramed } from '../../engine/frame.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { codeField, field, notice } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'
import { changePassword, makeRecoveryCodes, RECOVERY_CODES } from '../../sign-in/own-credentials.ts'
import { PASSKEY_SCRIPT } from '../../sign-in/pages.ts'
import { faultOfPassword, MIN_PASSWORD } from '../../sign-in/passwords.ts'
import { countRecoveryCodes } from '../../sign-in/queries.ts'
import { dropPasskey, type PasskeySaid, savePasskey, writePasskeys } from './passkeys.ts'
import { SESSIONS_PATH } from './sessions.ts'

export const SECURITY_PATH = 'security'

const TITLE = 'Sign-in and security'

/** Messages above the forms or next to their fields. */
interface Said extends PasskeySaid {
  readonly done?: string
  readonly fault?: string | undefined
}

export function securityRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment): DashboardRoute[] => {
    const page = `/${environment}/${SECURITY_PATH}`
    const own = { environment, needs: 'viewer' } as const
    return [
      { ...own, method: 'GET', path: page, handle: (visit) => show(visit, send) },
      {
        ...own,
        method: 'POST',
        path: `${page}/password`,
        answerBefore: (visit) => refusePassword(visit, send),
        handle: (visit) => savePassword(visit, send),
      },
      {
        ...own,
        method: 'POST',
        path: `${page}/recovery-codes`,
        handle: (visit) => saveCodes(visit, send),
      },
      {
        ...own,
        method: 'POST',
        path: `${page}/passkeys`,
        handle: async (visit) => show(visit, send, await savePasskey(visit)),
      },
      {
        ...own,
        method: 'POST',
        path: `${page}/passkeys/remove`,
        handle: async (visit) => show(visit, send, await dropPasskey(visit)),
      },
    ]
  })
}

/** Shows the page again if the new password is not acceptable. @returns whether a response was sent. */
async function refusePassword(visit: DashboardVisit, send: SendFramed): Promise<boolean> {
  const fault = faultOfPassword(formField(visit.request, 'next'), visit.member.email)
  if (fault !== undefined) await show(visit, send, { fault })
  return fault !== undefined
}

async function savePassword(visit: DashboardVisit, send: SendFramed) {
  const { operator, member, request } = visit
  await changePassword(operator, member, formField(request, 'next'))
  return show(visit, send, { done: 'Your password was changed. Your other sessions have ended.' })
}

async function saveCodes(visit: DashboardVisit, send: SendFramed) {
  const codes = await makeRecoveryCodes(visit.operator, visit.member)
  const content = html`${notice('warn', 'These codes are shown only once. Store them separately from your phone, for example, on paper or in a password manager.')}
<ul class="secret">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<div class="actions"><a class="button" href="/${visit.environment}/${SECURITY_PATH}">I have stored the codes</a></div>`
  send(visit, 200, { title: 'Recovery codes', path: SECURITY_PATH, content })
}

async function show(visit: DashboardVisit, send: SendFramed, said: Said = {}): Promise<void> {
  const { operator, member } = visit
  const left = await countRecoveryCodes(operator.control, member.tenantId, member.memberId)
  const content = html`${said.done !== undefined && notice('good', said.done)}
<p class="quiet">Sign-in settings of ${member.email}. They apply to sandbox and live.</p>
<h2>Password</h2>
${formTo(
  visit,
  'password',
  // Tells password managers which account the password belongs to.
  html`<input type="text" name="username" autocomplete="username" value="${member.email}" readonly hidden>
${field({ name: 'current', label: 'Current password', type: 'password', autocomplete: 'current-password' })}
${field({ name: 'next', label: 'New password', type: 'password', autocomplete: 'new-password', hint: `At least ${MIN_PASSWORD} characters.`, fault: said.fault })}
${codeField('password')}`,
  'Change password',
)}
${await writePasskeys(visit, `/${visit.environment}/${SECURITY_PATH}/passkeys`, said)}
<h2>Recovery codes</h2>
<p>If you lose the phone with your authenticator app, sign in with a recovery code instead. Each code works once. ${left === 0 ? 'You have no recovery codes.' : `You have ${left} of ${RECOVERY_CODES} codes left.`}</p>
${formTo(visit, 'recovery-codes', codeField('recovery-codes'), left === 0 ? 'Create recovery codes' : 'Replace recovery codes')}
<h2>Sessions</h2>
<p>See where you are signed in, and end sessions that you do not recognize. <a href="/${visit.environment}/${SESSIONS_PATH}">Show sessions</a></p>`
  const isRefused = said.fault !== undefined || said.passkey?.mood === 'bad'
  send(visit, isRefused ? 422 : 200, {
    title: TITLE,
    path: SECURITY_PATH,
    scripts: [PASSKEY_SCRIPT],
    content,
  })
}

function formTo(visit: DashboardVisit, name: string, fields: Html, button: string): Html {
  const address = `/${visit.environment}/${SECURITY_PATH}/${name}`
  return html`<form method="post" action="${address}">
${visit.guard(address)}
${fields}
<div class="actions"><button type="submit">${button}</button></div>
</form>`
}
