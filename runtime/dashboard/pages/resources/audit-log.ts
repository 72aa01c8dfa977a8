import type { components } from '../../../../generated/canonical/types.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { verifyAudit } from '../../../tenants/admin/audit.ts'
import { ControlError } from '../../../tenants/admin/change.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { linkIn } from '../../engine/links.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { resource } from '../../engine/shapes.ts'
import { code, orDash, state, when, words } from '../../engine/values.ts'
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
    'Who did what, and when. Each entry contains the hash of the previous entry, so any later change is detectable.',
  list: {
    operation: LISTING,
    columns: [
      { title: 'Action', show: ({ action }) => code(action) },
      {
        title: 'Actor',
        show: ({ actor }, link) => (actor.id === null ? words(actor.type) : link.to(actor.id)),
      },
      { title: 'Target', show: ({ target_id }, link) => link.to(target_id) },
      { title: 'Outcome', show: ({ outcome }) => state(outcome) },
      { title: 'IP address', show: ({ ip }) => html`<span class="number">${orDash(ip)}</span>` },
      { title: 'Created', show: ({ created }) => when(created) },
    ],
    filters: { action: 'Action', actor_id: 'Actor', target_id: 'Target' },
    empty: 'No audit entries yet. Actions by members and API keys appear here.',
    above: (visit) => {
      const address = verifyAddress(visit)
      return html`<form method="post" action="${address}">${visit.guard(address)}<div class="actions"><button type="submit" class="second">Verify audit log</button></div></form>`
    },
  },
})

/** Verifying 50,000 entries takes about one second. The operator's command verifies all entries. */
const MAX_CHECKED = 50_000

/** Routes that verify the hash chain of the audit log. */
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
      title: 'Audit log verification',
      path: PATH,
      content: html`${content}<p>${linkIn(visit)(PATH, 'Back to the audit log')}</p>`,
    })
  try {
    const found = await verifyAudit(operator, member.tenantId, environment, { newest: MAX_CHECKED })
    const { checked, entries, head } = found
    show(html`${notice('good', checked === 0 ? 'No audit entries yet.' : 'The audit log is intact: no entry was changed, removed, or inserted.')}
${facts([
  ['Entries', `${entries}`],
  ['Verified', checked === entries ? 'All entries' : `The latest ${checked} entries`],
  ['Latest hash', head === null ? '–' : code(head)],
])}
<p class="quiet">Store this hash outside the service. If you compare it later, you can detect that earlier entries were removed.</p>`)
  } catch (error) {
    if (!(error instanceof ControlError) || error.kind !== 'broken') throw error
    show(notice('bad', `${error.message}. Contact the operator of the service.`), 409)
  }
}
