/** The list of a member's own sessions, each of which the member can end. */

import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { writeNote } from '../../../tenants/admin/change.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import { writeTable } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import type { ListColumn } from '../../engine/shapes.ts'
import { orDash, when } from '../../engine/values.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { deleteSession, type ListedSession, listSessions } from '../../sign-in/queries.ts'
import { MAX_IDLE_MS } from '../../sign-in/sessions.ts'

export const SESSIONS_PATH = 'sessions'

export function sessionRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment): DashboardRoute[] => [
    {
      method: 'GET',
      path: `/${environment}/${SESSIONS_PATH}`,
      environment,
      needs: 'viewer',
      handle: (visit) => showSessions(visit, send),
    },
    {
      method: 'POST',
      path: `/${environment}/${SESSIONS_PATH}/:id/end`,
      environment,
      needs: 'viewer',
      handle: async (visit, id) => {
        const own = (await readSessions(visit)).find((each) => idOf(each) === id)
        // If the session has already expired, the request still succeeds.
        if (own) await endSession(visit, own)
        visit.finish(`/${environment}/${SESSIONS_PATH}`, 'Session ended')
      },
    },
  ])
}

function readSessions({ operator, member }: DashboardVisit): Promise<readonly ListedSession[]> {
  const now = operator.clock.machine()
  return listSessions(operator.control, member.tenantId, member.memberId, now, now - MAX_IDLE_MS)
}

async function endSession({ operator, member }: DashboardVisit, { digest }: ListedSession): Promise<void> {
  const { tenantId, memberId } = member
  await operator.control.transaction(async (tx) => {
    // If the form is submitted twice, only one audit entry is written.
    if ((await deleteSession(tx, tenantId, digest)) === undefined) return
    await writeNote(tx, operator, { tenantId, action: 'member.session_ended', targetId: memberId })
  })
}

/** The peppered digest identifies the session in URLs. The cookie value cannot be derived from it. */
const idOf = ({ digest }: ListedSession) => digest.toString('hex')

async function showSessions(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const isCurrent = ({ digest }: ListedSession) => visit.member.session.equals(digest)
  const columns: readonly ListColumn<ListedSession>[] = [
    {
      title: 'Browser',
      show: (session) =>
        isCurrent(session)
          ? html`${orDash(session.user_agent)} <strong>(this session)</strong>`
          : orDash(session.user_agent),
    },
    { title: 'IP address', show: ({ ip }) => html`<span class="number">${ip}</span>` },
    { title: 'Last active', show: ({ seen_at }) => when(new Date(seen_at).toISOString()) },
    { title: 'Signed in', show: ({ created }) => when(new Date(created).toISOString()) },
    {
      title: 'Actions',
      show: (session) => {
        const address = `/${visit.environment}/${SESSIONS_PATH}/${idOf(session)}/end`
        return html`<form method="post" action="${address}">${visit.guard(address)}<button type="submit" class="second" aria-label="End session from ${session.ip}">End session</button></form>`
      },
    },
  ]
  const sessions = await readSessions(visit)
  const content = html`<p class="quiet">The browsers in which you are signed in, most recent first. If you end this session, you are signed out.</p>
${writeTable('Sessions', columns, sessions, linkIn(visit))}
<p><a href="/sign-out">Sign out</a></p>`
  send(visit, 200, { title: 'Sessions', path: SESSIONS_PATH, content })
}
