/** Which version of the API an environment is answered in, and back again. */
import { current, versions } from '../../../../generated/versions.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { ControlError } from '../../../tenants/admin/change.ts'
import { missingSoak, readPinned, SOAK_MS, setPin } from '../../../tenants/admin/pins.ts'
import type { SendFramed } from '../../engine/frame.ts'
import { queryText } from '../../engine/list-page.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { when, words } from '../../engine/values.ts'
import { ApiRefused, type DashboardVisit, mayAct } from '../../engine/visit.ts'
import { choice, codeField, facts, notice } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'
import { type VersionUpgrade, writeChanges } from './changes.ts'
import { MAX_READS, rehearse, writeRehearsal } from './rehearsal.ts'

const PATH = 'version'

const REHEARSAL = `/sandbox/${PATH}/rehearsal`
/** As for the request log, whose reads it makes again. */
const REHEARSES = 'developer'

const HOUR_MS = 3_600_000
const SOAK_HOURS = SOAK_MS / HOUR_MS

export function versionRoutes(send: SendFramed): DashboardRoute[] {
  const underWay = new Set<string>()
  const pages = ENVIRONMENTS.flatMap((environment) => {
    const path = `/${environment}/${PATH}`
    return [
      {
        method: 'GET' as const,
        path,
        environment,
        needs: 'viewer' as const,
        handle: (visit: DashboardVisit) => showVersion(visit, send),
      },
      {
        method: 'POST' as const,
        path,
        environment,
        needs: 'owner' as const,
        answerBefore: (visit: DashboardVisit) => warnBefore(visit, send),
        handle: pin,
      },
    ]
  })
  return [
    ...pages,
    {
      method: 'POST',
      path: REHEARSAL,
      environment: 'sandbox',
      needs: REHEARSES,
      handle: (visit) => showRehearsal(visit, underWay, send),
    },
  ]
}

async function showVersion(visit: DashboardVisit, send: SendFramed): Promise<void> {
  const { member, environment, operator } = visit
  const found = await readPinned(operator.control, member.tenantId, environment)
  const pinned = found?.version
  const version = versions.find(({ name }) => name === pinned)
  const now = operator.clock.service(environment)
  const address = `/${environment}/${PATH}`
  const content = html`<p class="quiet">Requests that name no version are answered in this one, and events are written in it.</p>
${facts([
  ['Pinned to', pinned ?? 'nothing: the newest answers'],
  ['Since', found ? when(new Date(found.pinned_at).toISOString()) : '–'],
  ['It is', version ? words(version.status) : '–'],
  ['It ends', version?.sunset ? when(version.sunset) : 'no day is set'],
  ...(found ? [['In the sandbox', await writeSoak(visit)] as const] : []),
])}
${version?.sunset && writeDeadline(version.name, version.sunset, now)}
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
${visit.takesCode && codeField('pin')}
<div class="actions"><button type="submit">Pin</button></div>
</form>`
}
${await writeWay(visit, pinned)}
<p><a href="/docs">What each version is like</a></p>`
  send(visit, 200, { title: 'API version', path: PATH, content })
}

const DAY_MS = 86_400_000

function writeDeadline(name: string, sunset: string, now: number): Html {
  const days = Math.ceil((Date.parse(sunset) - now) / DAY_MS)
  const left = days > 0 ? `${days} day${days === 1 ? '' : 's'} left` : 'that has passed'
  return notice(
    'warn',
    `${name} is answered until ${sunset.slice(0, 10)}, and refused from then on: ${left}.`,
  )
}

/** For how long the sandbox has been where it is: live should not move to a version before it was tried for 48 hours. */
async function writeSoak({ member, operator }: DashboardVisit): Promise<string> {
  const sandbox = await readPinned(operator.control, member.tenantId, 'sandbox')
  if (!sandbox) return 'not pinned'
  const hours = Math.floor((operator.clock.service('sandbox') - sandbox.pinned_at) / HOUR_MS)
  const soak =
    hours < SOAK_HOURS ? `${Math.max(hours, 0)} of ${SOAK_HOURS} hours` : `${SOAK_HOURS} hours or more`
  return `at ${sandbox.version} for ${soak}`
}

/** The way that the page is asked about: from the pin to the newest, if it says nothing else. */
function readWay(pinned: string | undefined, given: (name: string) => string): VersionUpgrade | undefined {
  const known = (name: string) => versions.find((each) => each.name === given(name))?.name
  const [from, to] = [known('from') ?? pinned, known('to') ?? current]
  return from !== undefined && from < to ? { from, to } : undefined
}

async function writeWay(visit: DashboardVisit, pinned: string | undefined): Promise<Html | false> {
  const way = readWay(pinned, (name) => queryText(visit, name))
  if (!way) return false
  const { from, to } = way
  const later = versions.filter(({ name }) => name > from).toReversed()
  return html`${await writeChanges(visit, way)}
${
  later.length > 1 &&
  html`<form class="filters" method="get">
${from !== pinned && html`<input type="hidden" name="from" value="${from}">`}
${choice({ name: 'to', label: 'Another version', value: to, options: later.map(({ name, status }) => [name, `${name} (${status})`] as const) })}
<button class="second" type="submit">Compare</button>
</form>`
}
<p><a href="/docs/upgrading/${from}/${to}">All that changes from ${from} to ${to}, with code</a></p>
${mayAct(visit.member.role, REHEARSES) && writeRehearsalForm(visit, way)}`
}

function writeRehearsalForm(visit: DashboardVisit, { from, to }: VersionUpgrade): Html {
  const intro = html`<h2 id="rehearsal">Rehearsal</h2>
<p class="quiet">Makes the last ${String(MAX_READS)} different reads of the sandbox again in ${from} and in ${to}, as you, and shows where the answers differ. Nothing is written; the reads count as yours.</p>`
  if (visit.environment !== 'sandbox')
    return html`${intro}
<p><a class="button second" href="/sandbox/${PATH}?from=${from}&amp;to=${to}#rehearsal">Rehearse in the sandbox</a></p>`
  return html`${intro}
<form method="post" action="${REHEARSAL}">
${visit.guard(REHEARSAL)}
<input type="hidden" name="from" value="${from}"><input type="hidden" name="to" value="${to}">
<div class="actions"><button class="second" type="submit">Rehearse</button></div>
</form>`
}

async function showRehearsal(visit: DashboardVisit, underWay: Set<string>, send: SendFramed): Promise<void> {
  const way = readWay(undefined, (name) => formField(visit.request, name))
  if (!way) throw new ApiRefused(422, 'Choose a version, and a later one.')
  const { memberId } = visit.member
  if (underWay.has(memberId)) throw new ApiRefused(409, 'Another rehearsal of yours is under way.')
  underWay.add(memberId)
  try {
    const content = html`<p class="trail"><a href="/sandbox/${PATH}?from=${way.from}&amp;to=${way.to}">API version</a></p>
${writeRehearsal(visit, way, await rehearse(visit, way))}`
    send(visit, 200, { title: `Rehearsal: ${way.from} and ${way.to}`, path: PATH, content })
  } finally {
    underWay.delete(memberId)
  }
}

const ANYWAY = 'anyway'

/** Warns of a pin of live that the sandbox has not tried for long enough. @returns whether it has. */
async function warnBefore(visit: DashboardVisit, send: SendFramed): Promise<boolean> {
  const { member, environment, request } = visit
  const version = formField(request, 'version')
  const isKnown = versions.some(({ name }) => name === version)
  if (environment !== 'live' || !isKnown || formField(request, ANYWAY) === 'yes') return false
  const soaked = await missingSoak(visit.operator, member.tenantId, version)
  if (soaked === undefined) return false
  warnOfSoak(visit, version, soaked, send)
  return true
}

async function pin(visit: DashboardVisit): Promise<void> {
  const { member, environment, request, response } = visit
  const version = formField(request, 'version')
  try {
    await setPin(visit.operator, { tenantId: member.tenantId, environment, version }, versions)
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    throw new ApiRefused(422, `${error.message}.`)
  }
  response.redirect(303, `/${environment}/${PATH}`)
}

/** Nothing is pinned yet: the form is sent again by who has read this. */
function warnOfSoak(visit: DashboardVisit, version: string, soaked: number, send: SendFramed): void {
  const address = `/live/${PATH}`
  const hours = Math.floor(soaked / HOUR_MS)
  const has =
    soaked === 0
      ? `is not pinned to ${version}`
      : `has been at ${version} for ${hours} of ${SOAK_HOURS} hours`
  const content = html`${notice('warn', `The sandbox ${has}. Let your programs run there for ${SOAK_HOURS} hours first: what they cannot read in ${version} shows there, and costs nobody anything.`)}
<form method="post" action="${address}">
${visit.guard(address)}
<input type="hidden" name="version" value="${version}"><input type="hidden" name="${ANYWAY}" value="yes">
${visit.takesCode && codeField('pin')}
<div class="actions"><button type="submit" class="danger">Pin live all the same</button> <a class="button second" href="${address}">Back</a></div>
</form>`
  send(visit, 200, { title: `Pin live to ${version}?`, path: PATH, content })
}
