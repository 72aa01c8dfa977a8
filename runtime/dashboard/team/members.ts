/** The members pages: roles, invitations, and removal. Membership applies to both environments. */

import {
  findInvited,
  INVITATION_MS,
  type Invitation,
  invite,
  listInvitations,
  withdrawInvitation,
} from '../../account/members/invitations.ts'
import { changeRole, type ListedMember, listMembers, removeMember } from '../../account/members/members.ts'
import { MEMBER_ROLES, type MemberRole } from '../../account/members/users.ts'
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { type Html, html } from '../../platform/html.ts'
import { ControlError } from '../../tenants/admin/change.ts'
import { KEY, keyField } from '../engine/form-page.ts'
import type { SendFramed } from '../engine/frame.ts'
import { linkIn } from '../engine/links.ts'
import { writeTable } from '../engine/list-page.ts'
import type { DashboardRoute } from '../engine/routes.ts'
import type { ListColumn } from '../engine/shapes.ts'
import { sentence, when, words } from '../engine/values.ts'
import { ApiRefused, type DashboardVisit, mayAct } from '../engine/visit.ts'
import { choice, codeField, facts, field, notice } from '../html/components.ts'
import { formField } from '../html/forms.ts'

const PATH = 'members'

const MAY: Readonly<Record<MemberRole, string>> = {
  owner: 'Owner: full access, including members, API keys, and account settings',
  developer: 'Developer: view and change everything except account settings',
  viewer: 'Viewer: view everything',
}

export function memberRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment) => {
    const list = `/${environment}/${PATH}`
    const owner = { environment, needs: 'owner' } as const
    /** Performs the change and redirects to the list. If it is refused, shows the error on the page of the form. */
    const act = (
      path: string,
      done: string,
      work: (visit: DashboardVisit, id: string) => Promise<unknown>,
      again: (visit: DashboardVisit, id: string, fault: string) => Promise<void> | void,
    ): DashboardRoute => ({
      ...owner,
      method: 'POST',
      path: `${list}/${path}`,
      handle: async (visit, id) => {
        const fault = await refusalOf(() => work(visit, id))
        if (fault === undefined) visit.finish(list, done)
        else await again(visit, id, fault)
      },
    })
    const member = (visit: DashboardVisit, id: string, fault?: string) => showMember(visit, id, send, fault)
    const allMembers = (visit: DashboardVisit, _: string, fault?: string) => showMembers(visit, send, fault)
    return [
      { environment, needs: 'viewer', method: 'GET', path: list, handle: (visit) => allMembers(visit, '') },
      { ...owner, method: 'GET', path: `${list}/invite`, handle: (visit) => showInvite(visit, send) },
      {
        ...owner,
        method: 'POST',
        path: `${list}/invite`,
        handle: (visit) => sendInvitation(visit, send),
      },
      { ...owner, method: 'GET', path: `${list}/:id`, handle: (visit, id) => member(visit, id) },
      act(
        ':id/role',
        'Role changed',
        (visit, id) => changeRole(visit.operator, visit.member.tenantId, id, readRole(visit)),
        member,
      ),
      act(
        ':id/remove',
        'Member removed',
        ({ operator, member: { tenantId, memberId } }, id) => removeMember(operator, tenantId, id, memberId),
        member,
      ),
      act(
        'invitations/:id/withdraw',
        'Invitation withdrawn',
        (visit, id) => withdrawInvitation(visit.operator, visit.member.tenantId, id),
        allMembers,
      ),
    ]
  })
}

/** Returns the error message if the change is refused, or undefined if it was performed. */
async function refusalOf(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    if (error.kind === 'not_found') throw new ApiRefused(404, 'The member or invitation no longer exists.')
    return sentence(error.message)
  }
}

function readRole({ request }: DashboardVisit): MemberRole {
  const role = MEMBER_ROLES.find((each) => each === formField(request, 'role'))
  if (!role) throw new ApiRefused(422, 'Invalid role. Choose a role from the list.')
  return role
}

const COLUMNS: readonly ListColumn<ListedMember>[] = [
  { title: 'Member', show: ({ email }) => email },
  { title: 'Role', show: ({ role }) => words(role) },
  { title: 'Last active', show: ({ seen_at }) => (seen_at === null ? 'Never' : when(seen_at)) },
  { title: 'Joined', show: ({ created }) => when(created) },
]

async function showMembers(visit: DashboardVisit, send: SendFramed, fault?: string): Promise<void> {
  const { member, environment } = visit
  const isOwner = mayAct(member.role, 'owner')
  const [members, invitations] = await Promise.all([
    listMembers(visit.operator, member.tenantId),
    isOwner ? listInvitations(visit.operator, member.tenantId) : [],
  ])
  const link = linkIn(visit)
  const [first, ...rest] = COLUMNS
  const columns = isOwner
    ? [{ ...first!, show: (each: ListedMember) => link(`${PATH}/${each.id}`, each.email) }, ...rest]
    : COLUMNS
  const content = html`${fault !== undefined && notice('bad', fault)}
<p class="quiet">People with access to this account. Roles apply to both sandbox and live.</p>
${isOwner && html`<div class="actions"><a class="button" href="/${environment}/${PATH}/invite">Invite member</a></div>`}
${writeTable(
  'Members',
  columns,
  members.filter(({ can_sign_in }) => can_sign_in),
  link,
)}
${isOwner && writeInvitations(visit, invitations)}`
  send(visit, fault === undefined ? 200 : 409, { title: 'Members', path: PATH, content })
}

function writeInvitations(visit: DashboardVisit, invitations: readonly Invitation[]): Html {
  const columns: readonly ListColumn<Invitation>[] = [
    { title: 'Email', show: ({ email }) => email },
    { title: 'Role', show: ({ role }) => words(role) },
    { title: 'Expires', show: ({ expires_at }) => when(expires_at) },
    {
      title: 'Actions',
      show: ({ id, email }) => {
        const address = `/${visit.environment}/${PATH}/invitations/${id}/withdraw`
        return html`<form method="post" action="${address}">${visit.guard(address)}<button type="submit" class="second" aria-label="Withdraw invitation for ${email}">Withdraw invitation</button></form>`
      },
    },
  ]
  return html`<section><h2>Pending invitations</h2>
${
  invitations.length > 0
    ? writeTable('Pending invitations', columns, invitations, linkIn(visit))
    : html`<p class="empty">No pending invitations. Invite a member to create an invitation link.</p>`
}</section>`
}

const roleChoice = (value: string) =>
  choice({
    name: 'role',
    label: 'Role',
    value,
    options: MEMBER_ROLES.map((role) => [role, MAY[role]] as const),
  })

interface Typed {
  readonly email: string
  readonly role: string
  readonly fault?: string
}

function showInvite(
  visit: DashboardVisit,
  send: SendFramed,
  typed: Typed = { email: '', role: 'developer' },
): void {
  const list = `/${visit.environment}/${PATH}`
  const content = html`${typed.fault !== undefined && notice('bad', 'Check the highlighted fields.')}
<p>This creates an invitation link that you send to the new member. The link expires after ${String(INVITATION_MS / 3_600_000)} hours and works once.</p>
<form method="post" action="${list}/invite">
${visit.guard(`${list}/invite`)}${keyField()}
${field({ name: 'email', label: 'Email', type: 'email', value: typed.email, fault: typed.fault })}
${roleChoice(typed.role)}
${codeField('invite')}
<div class="actions"><button type="submit">Create invitation link</button> <a class="button second" href="${list}">Back</a></div>
</form>`
  send(visit, typed.fault === undefined ? 200 : 422, { title: 'Invite member', path: PATH, content })
}

async function sendInvitation(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const { tenantId, memberId } = visit.member
  const email = formField(visit.request, 'email').trim()
  const role = readRole(visit)
  const wanted = { tenantId, email, role, memberId, once: formField(visit.request, KEY) }
  try {
    const link = (await findInvited(visit.operator, wanted)) ?? (await invite(visit.operator, wanted))
    showLink(visit, email, link, send)
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    showInvite(visit, send, { email, role, fault: sentence(error.message) })
  }
}

function showLink(visit: DashboardVisit, email: string, link: string, send: SendFramed): void {
  const content = html`${notice('warn', 'This link is shown only once. Anyone who opens it can join the account, so send it only to the invited person.')}
<p>Invitation link for ${email}:</p>
<p class="secret"><code>${visit.origin}/invitations/${link}</code></p>
<div class="actions"><a class="button" href="/${visit.environment}/${PATH}">I have copied the link</a></div>`
  send(visit, 200, { title: 'Invitation link', path: PATH, content })
}

async function showMember(
  visit: DashboardVisit,
  id: string,
  send: SendFramed,
  fault?: string,
): Promise<void> {
  const members = await listMembers(visit.operator, visit.member.tenantId)
  const member = members.find((each) => each.id === id && each.can_sign_in)
  if (!member) throw new ApiRefused(404, 'Member not found.')
  const list = `/${visit.environment}/${PATH}`
  const forms = { role: `${list}/${id}/role`, remove: `${list}/${id}/remove` }
  const content = html`${fault !== undefined && notice('bad', fault)}
${facts([
  ['Role', words(member.role)],
  ['Joined', when(member.created)],
  ['Last active', member.seen_at === null ? 'Never' : when(member.seen_at)],
])}
<section><h2>Role</h2>
<form method="post" action="${forms.role}">${visit.guard(forms.role)}
${roleChoice(member.role)}
${codeField('role')}
<div class="actions"><button type="submit">Change role</button></div>
</form></section>
${
  id !== visit.member.memberId &&
  html`<section><h2>Remove member</h2>
<p>The member's sessions end immediately, and applications that the member authorized lose access. The member's API keys keep working and are transferred to you. Rotate all keys that the member knows.</p>
<form method="post" action="${forms.remove}">${visit.guard(forms.remove)}
${codeField('remove')}
<div class="actions"><button type="submit" class="danger">Remove member</button></div>
</form></section>`
}
<p><a href="${list}">View all members</a></p>`
  send(visit, fault === undefined ? 200 : 409, { title: member.email, path: PATH, content })
}
