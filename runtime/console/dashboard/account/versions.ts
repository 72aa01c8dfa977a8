/** Which version of the API an environment is answered in, and back again. */
import { versions } from '../../../../generated/versions.ts'
import { ControlError, type Operator } from '../../../admin/change.ts'
import { readPin, setPin } from '../../../admin/pins.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { choice, facts } from '../../page/components.ts'
import { formField } from '../../page/forms.ts'
import type { SendFramed } from '../shape/frame.ts'
import type { Route } from '../shape/routes.ts'
import { words } from '../shape/values.ts'
import { mayAct, Refused, type Visit } from '../shape/visit.ts'
import { as } from './keys.ts'

const PATH = 'version'

export function versionRoutes(send: SendFramed, operator: Operator): Route[] {
  return ENVIRONMENTS.flatMap((environment) => {
    const path = `/${environment}/${PATH}`
    return [
      {
        method: 'GET' as const,
        path,
        environment,
        needs: 'viewer' as const,
        handle: (visit: Visit) => showVersion(operator, visit, send),
      },
      {
        method: 'POST' as const,
        path,
        environment,
        needs: 'owner' as const,
        handle: (visit: Visit) => pin(operator, visit),
      },
    ]
  })
}

async function showVersion(operator: Operator, visit: Visit, send: SendFramed): Promise<void> {
  const { member, environment } = visit
  const pinned = await readPin(operator.control, member.tenantId, environment)
  const version = versions.find(({ name }) => name === pinned)
  const address = `/${environment}/${PATH}`
  const content = html`<p class="quiet">Requests that name no version are answered in this one, and events are written in it.</p>
${facts([
  ['Pinned to', pinned ?? 'nothing: the newest answers'],
  ['It is', version ? words(version.status) : '–'],
  ['It ends', version?.sunset ?? 'no day is set'],
])}
${
  mayAct(member.role, 'owner') &&
  html`<form method="post" action="${address}">
${visit.guard(address)}
${choice({
  name: 'version',
  label: 'Pin to',
  value: pinned ?? undefined,
  hint: 'An earlier version takes you back. Requests under way finish in the one they began with.',
  options: versions.toReversed().map(({ name, status }) => [name, `${name} (${status})`] as const),
})}
<div class="actions"><button type="submit">Pin</button></div>
</form>`
}
<p><a href="/docs">What each version is like</a></p>`
  send(visit, 200, { title: 'API version', path: PATH, content })
}

async function pin(operator: Operator, visit: Visit): Promise<void> {
  const { member, environment, request, response } = visit
  const version = formField(request, 'version')
  try {
    await setPin(as(operator, visit), { tenantId: member.tenantId, environment, version }, versions)
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    throw new Refused(422, `${error.message}.`)
  }
  response.redirect(303, `/${environment}/${PATH}`)
}
