import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { verifyAudit } from '../../../tenants/admin/audit.ts'
import { ControlError } from '../../../tenants/admin/change.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { resource } from '../../engine/shapes.ts'
import { code, orDash, state, when } from '../../engine/values.ts'
import { type DashboardVisit, roleFor } from '../../engine/visit.ts'
import { facts, notice } from '../../html/components.ts'

type ShownEntry = components['schemas']['AuditEntry']

const PATH = 'audit-log'
const LISTING = 'listAuditEntries'

const verifyAddress = ({ environment }: Pick<DashboardVisit, 'environment'>) =>
  `/${environment}/${PATH}/verify`

export const AUDIT_LOG = resource<ShownEntry>({
  path: PATH,
  title: 'Audit log',
  intro:
    'Who did what. Each entry holds the hash of the one before, so none can be changed or left out unseen.',
  list: {
    operation: LISTING,
    columns: [
      { title: 'Action', show: ({ action }) => code(action) },
      { title: 'By', show: ({ actor }) => `${actor.type} ${actor.id ?? ''}` },
      { title: 'What', show: ({ target_id }) => (target_id === null ? '–' : code(target_id)) },
      { title: 'Outcome', show: ({ outcome }) => state(outcome) },
      { title: 'From', show: ({ ip }) => orDash(ip) },
      { title: 'When', show: ({ created }) => when(created) },
    ],
    filters: { action: 'Action', actor_id: 'Who', target_id: 'What' },
    empty: 'Nothing has been done yet.',
    above: (visit) => {
      const address = verifyAddress(visit)
      return html`<form method="post" action="${address}">${visit.guard(address)}<div class="actions"><button type="submit" class="second">Verify the log</button></div></form>`
    },
  },
})

/** Entries that a page looks at: a second's work. The operator's command looks at all. */
const MAX_CHECKED = 50_000

/** The check of the chain, asked for on the page of the log. */
export function auditRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.map((environment) => ({
    method: 'POST',
    path: verifyAddress({ environment }),
    environment,
    needs: roleFor(LISTING),
    handle: (visit) => verify(visit, send),
  }))
}

async function verify(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const { operator, member, environment } = visit
  const show = (content: ReturnType<typeof html>, status = 200) =>
    send(visit, status, {
      title: 'Audit log, verified',
      path: PATH,
      content: html`${content}<p>${linkIn(visit)(PATH, 'Back to the log')}</p>`,
    })
  try {
    const found = await verifyAudit(operator, member.tenantId, environment, { newest: MAX_CHECKED })
    const { checked, entries, head } = found
    show(html`${notice('good', checked === 0 ? 'There is no entry yet.' : 'No entry was changed, taken away or slipped in.')}
${facts([
  ['Entries', `${entries}`],
  ['Looked at', checked === entries ? 'all of them' : `the last ${checked}`],
  ['Hash of the last', head === null ? '–' : code(head)],
])}
<p class="quiet">Keep the hash elsewhere: it shows later that nothing before it was taken away.</p>`)
  } catch (error) {
    if (!(error instanceof ControlError) || error.kind !== 'broken') throw error
    show(notice('bad', `${error.message}. Tell whoever runs the service.`), 409)
  }
}
