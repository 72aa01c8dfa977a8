/** The preferences of a member, which apply to sandbox and live. */
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { writeNote } from '../../../tenants/admin/change.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { PREFERENCES_PATH } from '../../engine/header.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { listTimeZones, readTimeZone } from '../../engine/time-zone.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { choice } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'
import { setTimeZone } from '../../sign-in/queries.ts'
import { ownPath } from '../../sign-in/sign-in.ts'

export function preferenceRoutes(send: SendFramed): DashboardRoute[] {
  return ENVIRONMENTS.flatMap((environment): DashboardRoute[] => {
    const common = { environment, path: `/${environment}/${PREFERENCES_PATH}`, needs: 'viewer' } as const
    return [
      { ...common, method: 'GET', handle: (visit) => show(visit, send) },
      { ...common, method: 'POST', handle: (visit) => save(visit, send) },
    ]
  })
}

function show(visit: DashboardVisit, send: SendFramed, fault?: string): void {
  const { environment, timeZone } = visit
  const address = `/${environment}/${PREFERENCES_PATH}`
  const zones = listTimeZones()
  const options = (zones.includes(timeZone) ? zones : [timeZone, ...zones]).map((zone): [string, string] => [
    zone,
    zone.replaceAll('_', ' '),
  ])
  const content: Html = html`<p class="quiet">These settings apply only to you, in sandbox and live.</p>
<form method="post" action="${address}">
${visit.guard(address)}
${choice({ name: 'time_zone', label: 'Time zone', value: timeZone, options, fault, hint: 'The dashboard shows times in this time zone. The API always uses UTC.' })}
<div class="actions"><button type="submit">Save preferences</button></div>
</form>`
  send(visit, fault === undefined ? 200 : 422, { title: 'Preferences', path: PREFERENCES_PATH, content })
}

async function save(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const { environment, member, operator, request, origin } = visit
  const zone = readTimeZone(formField(request, 'time_zone'))
  if (zone === undefined) return show(visit, send, 'Choose a time zone from the list.')
  const { tenantId, memberId } = member
  await operator.control.transaction(async (tx) => {
    if (await setTimeZone(tx, tenantId, memberId, zone))
      await writeNote(tx, operator, { tenantId, action: 'member.time_zone_changed', targetId: memberId })
  })
  const next = formField(request, 'return_to') || `/${environment}/${PREFERENCES_PATH}`
  visit.finish(ownPath(origin, next), `Times are shown in ${zone.replaceAll('_', ' ')}`)
}
