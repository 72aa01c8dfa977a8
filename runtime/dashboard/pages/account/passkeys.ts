/** The passkeys section of the security page. A member confirms each change with an authenticator code. */
import { type Html, html } from '../../../platform/html.ts'
import { when } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { codeField, facts, field, notice } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'
import { listPasskeys, type Passkey } from '../../sign-in/passkey-queries.ts'
import {
  addPasskey,
  creationOptions,
  MAX_PASSKEY_NAME,
  MAX_PASSKEYS,
  makeChallenge,
  type NotAdded,
  relyingPartyOf,
  removePasskey,
} from '../../sign-in/passkeys.ts'

/** Message above the list of passkeys. */
export interface PasskeySaid {
  readonly passkey?: { readonly mood: 'good' | 'bad'; readonly text: string }
}

const FAULTS: Readonly<Record<NotAdded, string>> = {
  'not readable': 'The passkey could not be read, or the page expired. Try again.',
  'too many': `You have the maximum of ${MAX_PASSKEYS} passkeys. Remove one before you add another.`,
  known: 'This passkey is already registered.',
}

const aboutOf = ({ member }: DashboardVisit): string =>
  `add ${member.memberId} ${member.session.toString('hex')}`

export async function savePasskey(visit: DashboardVisit): Promise<PasskeySaid> {
  const { operator, member, origin: consoleUrl, request } = visit
  const name = formField(request, 'name').trim().slice(0, MAX_PASSKEY_NAME)
  const given = {
    challenge: formField(request, 'challenge'),
    credential: formField(request, 'credential'),
    name: name || 'Passkey',
  }
  const fault = await addPasskey({ operator, consoleUrl }, member, aboutOf(visit), given)
  if (fault !== undefined) return { passkey: { mood: 'bad', text: FAULTS[fault] } }
  return {
    passkey: {
      mood: 'good',
      text: 'Passkey added. You can now sign in with it instead of your password and code.',
    },
  }
}

export async function dropPasskey({ operator, member, request }: DashboardVisit): Promise<PasskeySaid> {
  const id = Buffer.from(formField(request, 'passkey'), 'base64url')
  const isRemoved = await removePasskey(operator, member, id)
  return {
    passkey: isRemoved
      ? { mood: 'good', text: 'Passkey removed. It can no longer be used to sign in.' }
      : { mood: 'bad', text: 'Passkey not found. It may already be removed.' },
  }
}

/** Writes the section. @param address base path of its forms. */
export async function writePasskeys(
  visit: DashboardVisit,
  address: string,
  { passkey: said }: PasskeySaid,
): Promise<Html> {
  const { operator, member } = visit
  const known = await listPasskeys(operator.control, member.tenantId, member.memberId)
  return html`<h2>Passkeys</h2>
<p>A passkey is stored on your device or in your password manager. You can sign in with it instead of your password and code.</p>
${said && notice(said.mood, said.text)}
${known.map((passkey) => writePasskey(visit, address, passkey))}
${known.length < MAX_PASSKEYS && writeAdding(visit, address, known)}`
}

function writePasskey(visit: DashboardVisit, address: string, passkey: Passkey): Html {
  const id = passkey.credential_id.toString('base64url')
  const path = `${address}/remove`
  const instant = (ms: number) => when(new Date(ms).toISOString())
  return html`<section class="card"><h3>${passkey.name}</h3>
${facts([
  ['Added', instant(passkey.created)],
  ['Last used', passkey.used_at === null ? 'Never' : instant(passkey.used_at)],
])}
<details><summary>Remove passkey</summary>
<form method="post" action="${path}">
${visit.guard(path)}
<input type="hidden" name="passkey" value="${id}">
${codeField(`remove-${id}`)}
<div class="actions"><button type="submit" class="danger">Remove passkey</button></div>
</form>
</details></section>`
}

function writeAdding(visit: DashboardVisit, address: string, known: readonly Passkey[]): Html {
  const { operator, member, origin } = visit
  const party = relyingPartyOf(origin)
  if (!party)
    return html`<p class="empty">Passkeys require a host name with HTTPS, or localhost. Set CONSOLE_BASE_URL to such an address to add passkeys.</p>`
  const challenge = makeChallenge(operator.pepper, aboutOf(visit), operator.clock.machine())
  const options = creationOptions(party, member, challenge, known)
  return html`<noscript><p class="empty">To add a passkey, enable JavaScript for this page.</p></noscript>
<form method="post" action="${address}" data-passkey="${JSON.stringify(options)}" hidden>
${visit.guard(address)}
<input type="hidden" name="challenge" value="${challenge}">
<input type="hidden" name="credential" value="">
${field({ name: 'name', id: 'passkey-name', label: 'Passkey name', hint: 'For example, the name of your device.' })}
${codeField('passkey')}
<div class="actions"><button type="submit">Add passkey</button></div>
<p class="hint" role="status"></p>
</form>`
}
