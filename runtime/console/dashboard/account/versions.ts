/** Which version of the API an environment is answered in, and back again. */
import { versions } from '../../../../generated/versions.ts'
import { ControlError } from '../../../admin/change.ts'
import { missingSoak, readPinned, setPin } from '../../../admin/pins.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { html } from '../../../platform/html.ts'
import { choice, facts, notice } from '../../page/components.ts'
import { formField } from '../../page/forms.ts'
import type { SendFramed } from '../shape/frame.ts'
import type { Route } from '../shape/routes.ts'
import { when, words } from '../shape/values.ts'
import { mayAct, Refused, type Visit } from '../shape/visit.ts'

const PATH = 'version'

export function versionRoutes(send: SendFramed): Route[] {
  return ENVIRONMENTS.flatMap((environment) => {
    const path = `/${environment}/${PATH}`
    return [
      {
        method: 'GET' as const,
        path,
        environment,
        needs: 'viewer' as const,
        handle: (visit: Visit) => showVersion(visit, send),
      },
      {
        method: 'POST' as const,
        path,
        environment,
        needs: 'owner' as const,
        handle: (visit: Visit) => pin(visit, send),
      },
    ]
  })
}

async function showVersion(visit: Visit, send: SendFramed): Promise<void> {
  const { member, environment } = visit
  const found = await readPinned(visit.operator.control, member.tenantId, environment)
  const pinned = found?.version
  const version = versions.find(({ name }) => name === pinned)
  const newer = versions.filter(({ name }) => pinned !== undefined && name > pinned)
  const address = `/${environment}/${PATH}`
  const content = html`<p class="quiet">Requests that name no version are answered in this one, and events are written in it.</p>
${facts([
  ['Pinned to', pinned ?? 'nothing: the newest answers'],
  ['Since', found ? when(new Date(found.pinned_at).toISOString()) : '–'],
  ['It is', version ? words(version.status) : '–'],
  ['It ends', version?.sunset ? when(version.sunset) : 'no day is set'],
])}
${version?.sunset && notice('warn', `${version.name} is answered until ${version.sunset.slice(0, 10)}, and refused from then on.`)}
${
  newer.length > 0 &&
  html`<p>What changes on the way, with code before and after: ${newer.map(
    ({ name }, index) => html`${index > 0 && ', '}<a href="/docs/upgrading/${pinned}/${name}">to ${name}</a>`,
  )}.</p>`
}
${
  mayAct(member.role, 'owner') &&
  html`<form method="post" action="${address}">
${visit.guard(address)}
${choice({
  name: 'version',
  label: 'Pin to',
  value: pinned,
  hint: 'An earlier version takes you back. Requests under way finish in the one they began with.',
  options: versions.toReversed().map(({ name, status }) => [name, `${name} (${status})`] as const),
})}
<div class="actions"><button type="submit">Pin</button></div>
</form>`
}
<p><a href="/docs">What each version is like</a></p>`
  send(visit, 200, { title: 'API version', path: PATH, content })
}

const ANYWAY = 'anyway'

async function pin(visit: Visit, send: SendFramed): Promise<void> {
  const { member, environment, request, response } = visit
  const version = formField(request, 'version')
  const isKnown = versions.some(({ name }) => name === version)
  if (environment === 'live' && isKnown && formField(request, ANYWAY) !== 'yes') {
    const soaked = await missingSoak(visit.operator, member.tenantId, version)
    if (soaked !== undefined) return warnOfSoak(visit, version, soaked, send)
  }
  try {
    await setPin(visit.operator, { tenantId: member.tenantId, environment, version }, versions)
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    throw new Refused(422, `${error.message}.`)
  }
  response.redirect(303, `/${environment}/${PATH}`)
}

const HOUR_MS = 3_600_000

/** Nothing is pinned yet: the form is sent again by who has read this. */
function warnOfSoak(visit: Visit, version: string, soaked: number, send: SendFramed): void {
  const address = `/live/${PATH}`
  const hours = Math.floor(soaked / HOUR_MS)
  const has = soaked === 0 ? `is not pinned to ${version}` : `has been at ${version} for ${hours} of 48 hours`
  const content = html`${notice('warn', `The sandbox ${has}. Let your programs run there for 48 hours first: what they cannot read in ${version} shows there, and costs nobody anything.`)}
<form method="post" action="${address}">
${visit.guard(address)}
<input type="hidden" name="version" value="${version}"><input type="hidden" name="${ANYWAY}" value="yes">
<div class="actions"><button type="submit" class="danger">Pin live all the same</button> <a class="button second" href="${address}">Back</a></div>
</form>`
  send(visit, 200, { title: `Pin live to ${version}?`, path: PATH, content })
}
