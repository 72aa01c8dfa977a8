/** Passkeys of a member, on the page of what the member signs in with: added and removed with a code of the member's app. */
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

/** What is said above the passkeys. */
export interface PasskeySaid {
  readonly passkey?: { readonly mood: 'good' | 'bad'; readonly text: string }
}

const FAULTS: Readonly<Record<NotAdded, string>> = {
  'not readable': 'No passkey came with it, or the page was open for too long. Please try again.',
  'too many': `You have ${MAX_PASSKEYS} passkeys, which is all that there can be. Remove one first.`,
  known: 'This passkey is known already.',
}

const aboutOf = ({ member }: DashboardVisit): string =>
  `add ${member.memberId} ${member.session.toString('hex')}`

/** @returns what came of it. */
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
    passkey: { mood: 'good', text: 'The passkey is added. It takes the place of your password and code.' },
  }
}

/** @returns what came of it. */
export async function dropPasskey({ operator, member, request }: DashboardVisit): Promise<PasskeySaid> {
  const id = Buffer.from(formField(request, 'passkey'), 'base64url')
  const isRemoved = await removePasskey(operator, member, id)
  return {
    passkey: isRemoved
      ? { mood: 'good', text: 'The passkey is removed, and signs nobody in any more.' }
      : { mood: 'bad', text: 'Nothing was removed: you have no such passkey.' },
  }
}

/** The part of the page. @param address to which its forms are sent, without what they do. */
export async function writePasskeys(
  visit: DashboardVisit,
  address: string,
  { passkey: said }: PasskeySaid,
): Promise<Html> {
  const { operator, member } = visit
  const known = await listPasskeys(operator.control, member.tenantId, member.memberId)
  return html`<h2>Passkeys</h2>
<p>A passkey is kept by your device or your password manager, and takes the place of password and code when you sign in.</p>
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
  ['Last used', passkey.used_at === null ? 'never' : instant(passkey.used_at)],
])}
<details><summary>Remove</summary>
<form method="post" action="${path}">
${visit.guard(path)}
<input type="hidden" name="passkey" value="${id}">
${codeField(`remove-${id}`)}
<div class="actions"><button type="submit" class="danger">Remove it</button></div>
</form>
</details></section>`
}

function writeAdding(visit: DashboardVisit, address: string, known: readonly Passkey[]): Html {
  const { operator, member, origin } = visit
  const party = relyingPartyOf(origin)
  if (!party)
    return html`<p class="empty">Browsers make passkeys for names alone, over https or at localhost: open the dashboard at such an address (CONSOLE_BASE_URL).</p>`
  const challenge = makeChallenge(operator.pepper, aboutOf(visit), operator.clock.machine())
  const options = creationOptions(party, member, challenge, known)
  return html`<noscript><p class="empty">To add one, let your browser run the page’s script.</p></noscript>
<form method="post" action="${address}" data-passkey="${JSON.stringify(options)}" hidden>
${visit.guard(address)}
<input type="hidden" name="challenge" value="${challenge}">
<input type="hidden" name="credential" value="">
${field({ name: 'name', id: 'passkey-name', label: 'What you call it', hint: 'The device that keeps it, for example.' })}
${codeField('passkey')}
<div class="actions"><button type="submit">Add a passkey</button></div>
<p class="hint" role="status"></p>
</form>`
}
