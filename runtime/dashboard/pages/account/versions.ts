/** The API version page: shows and changes the pinned version of an environment. */
import { changes } from '../../../../generated/changelog.ts'
import { current, versions } from '../../../../generated/versions.ts'
import { ENVIRONMENTS } from '../../../platform/environment.ts'
import { type Html, html } from '../../../platform/html.ts'
import { ControlError } from '../../../tenants/admin/change.ts'
import { missingSoak, readPinned, SOAK_MS, setPin } from '../../../tenants/admin/pins.ts'
import type { SendFramed } from '../../engine/frame.ts'
import type { DashboardRoute } from '../../engine/routes.ts'
import { exactly, sentence, when, words } from '../../engine/values.ts'
import { ApiRefused, type DashboardVisit, mayAct, queryText } from '../../engine/visit.ts'
import { choice, codeField, facts, notice } from '../../html/components.ts'
import { formField } from '../../html/forms.ts'
import { type VersionUpgrade, writeChanges } from './changes.ts'
import { MAX_REPEATED, rehearse, writeRehearsal } from './rehearsal.ts'

const PATH = 'version'

/** Returns the path of the page with this version selected. */
export const selectVersion = (name: string): string => `${PATH}?version=${name}`

const REHEARSAL = `/sandbox/${PATH}/rehearsal`
/** The same role as for the request log, because a rehearsal repeats its requests. */
const REHEARSES = 'developer'

const HOUR_MS = 3_600_000
const SOAK_HOURS = SOAK_MS / HOUR_MS

export function versionRoutes(send: SendFramed): DashboardRoute[] {
  const running = new Set<string>()
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
      handle: (visit) => showRehearsal(visit, running, send),
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
  const content = html`<p class="quiet">The pinned version applies to requests without a Service-Version header, and to events.</p>
${facts([
  ['Pinned version', pinned ?? 'Not pinned: the newest version applies'],
  ['Pinned', found ? when(new Date(found.pinned_at).toISOString()) : '–'],
  ['Status', version ? words(version.status) : '–'],
  ['Sunset date', version?.sunset ? exactly(version.sunset) : 'None'],
  ...(found ? [['Sandbox', await writeSoak(visit)] as const] : []),
])}
${version?.sunset && writeDeadline(version.name, version.sunset, now)}
${
  mayAct(member.role, 'owner') &&
  html`<form method="post" action="${address}">
${visit.guard(address)}
${choice({
  name: 'version',
  label: 'Version',
  value: queryText(visit, 'version') || pinned,
  hint: 'You can also pin an earlier version. Requests in progress finish in the version that they started with.',
  options: versions.toReversed().map(({ name, status }) => [name, `${name} (${status})`] as const),
})}
${visit.takesCode && codeField('pin')}
<div class="actions"><button type="submit">Pin version</button></div>
</form>`
}
${await writeWay(visit, pinned)}
<p><a href="/docs">Read the documentation of all versions</a></p>`
  send(visit, 200, { title: 'API version', path: PATH, content })
}

const DAY_MS = 86_400_000

function writeDeadline(name: string, sunset: string, now: number): Html {
  const days = Math.ceil((Date.parse(sunset) - now) / DAY_MS)
  const left = days > 0 ? `${days} day${days === 1 ? '' : 's'} left` : 'this date has passed'
  return notice(
    'warn',
    `Version ${name} is supported until ${sunset.slice(0, 10)} (${left}). Requests to it fail after that date.`,
  )
}

/** Describes how long the sandbox has been pinned to its version. A version should run in the sandbox for 48 hours before live. */
async function writeSoak({ member, operator }: DashboardVisit): Promise<string> {
  const sandbox = await readPinned(operator.control, member.tenantId, 'sandbox')
  if (!sandbox) return 'Not pinned'
  const hours = Math.floor((operator.clock.service('sandbox') - sandbox.pinned_at) / HOUR_MS)
  const soak =
    hours < SOAK_HOURS ? `${Math.max(hours, 0)} of ${SOAK_HOURS} hours` : `${SOAK_HOURS} hours or more`
  return `Pinned to ${sandbox.version} for ${soak}`
}

/** Returns the requested upgrade. The default is from the pinned version to the newest version. */
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
${choice({ name: 'to', label: 'Compare with', value: to, options: later.map(({ name, status }) => [name, `${name} (${status})`] as const) })}
<button class="second" type="submit">Compare versions</button>
</form>`
}
<p><a href="/docs/upgrading/${from}/${to}">Read the upgrade guide from ${from} to ${to}</a></p>
${mayAct(visit.member.role, REHEARSES) && writeRehearsalForm(visit, way)}`
}

function writeRehearsalForm(visit: DashboardVisit, { from, to }: VersionUpgrade): Html {
  const intro = html`<h2 id="rehearsal">Rehearsal</h2>
<p class="quiet">Repeats your last ${String(MAX_REPEATED)} distinct sandbox requests to ${from} in both versions with your permissions, and shows what they must change and where the responses differ. A rehearsal changes no data: writes are rolled back. Its requests count toward your usage.</p>`
  if (visit.environment !== 'sandbox')
    return html`${intro}
<p><a class="button second" href="/sandbox/${PATH}?from=${from}&amp;to=${to}#rehearsal">Rehearse upgrade in the sandbox</a></p>`
  return html`${intro}
<form method="post" action="${REHEARSAL}">
${visit.guard(REHEARSAL)}
<input type="hidden" name="from" value="${from}"><input type="hidden" name="to" value="${to}">
<div class="actions"><button class="second" type="submit">Rehearse upgrade</button></div>
</form>`
}

async function showRehearsal(visit: DashboardVisit, running: Set<string>, send: SendFramed): Promise<void> {
  const way = readWay(undefined, (name) => formField(visit.request, name))
  if (!way) throw new ApiRefused(422, 'Invalid versions. Choose a version and a later version.')
  const { memberId } = visit.member
  if (running.has(memberId))
    throw new ApiRefused(409, 'A rehearsal is already running. Wait until it finishes.')
  running.add(memberId)
  try {
    const content = html`<p class="trail"><a href="/sandbox/${PATH}?from=${way.from}&amp;to=${way.to}">API version</a></p>
${writeRehearsal(visit, way, await rehearse(visit, way))}`
    send(visit, 200, { title: `Rehearsal: ${way.from} and ${way.to}`, path: PATH, content })
  } finally {
    running.delete(memberId)
  }
}

const ANYWAY = 'anyway'

/**
 * Warns before live is pinned to a version that the sandbox has not run long enough, and before a pin to a deprecated or an
 * earlier version.
 *
 * @returns whether a response was sent.
 */
async function warnBefore(visit: DashboardVisit, send: SendFramed): Promise<boolean> {
  const { member, environment, request, operator } = visit
  const version = versions.find(({ name }) => name === formField(request, 'version'))
  if (!version || formField(request, ANYWAY) === 'yes') return false
  const now = operator.clock.service(environment)
  // `pin` refuses such a version.
  if (version.sunset !== undefined && Date.parse(version.sunset) <= now) return false
  const pinned = (await readPinned(operator.control, member.tenantId, environment))?.version ?? current
  if (version.name === pinned) return false
  const soaked =
    environment === 'live' ? await missingSoak(operator, member.tenantId, version.name) : undefined
  const warnings = [
    ...(soaked === undefined ? [] : [writeMissingSoak(version.name, soaked)]),
    ...(version.sunset === undefined ? [] : [writeDeadline(version.name, version.sunset, now)]),
    ...(version.name < pinned ? [writeLoss(version.name, pinned)] : []),
  ]
  if (warnings.length === 0) return false
  askToPin(visit, version.name, html`${warnings}`, send)
  return true
}

/** Lists the changes that an environment loses with an earlier version. */
function writeLoss(version: string, pinned: string): Html {
  const lost = changes.filter((change) => change.version > version && change.version <= pinned)
  return html`${notice('warn', `Version ${version} is earlier than the version that applies now, ${pinned}. Requests without a Service-Version header and events no longer include the ${lost.length} changes since ${version}. Integrations that rely on them fail.`)}
<h2>Changes that you lose</h2>
<ul>${lost.map(({ title, version: since }) => html`<li>${title} <span class="quiet">${since}</span></li>`)}</ul>
<p><a href="/docs/upgrading/${version}/${pinned}">Read what differs between ${version} and ${pinned}</a></p>`
}

async function pin(visit: DashboardVisit): Promise<void> {
  const { member, environment, request } = visit
  const version = formField(request, 'version')
  try {
    await setPin(visit.operator, { tenantId: member.tenantId, environment, version }, versions)
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    throw new ApiRefused(422, sentence(error.message))
  }
  visit.finish(`/${environment}/${PATH}`, `Version ${version} pinned`)
}

function writeMissingSoak(version: string, soaked: number): Html {
  const hours = Math.floor(soaked / HOUR_MS)
  const has =
    soaked === 0
      ? `is not pinned to version ${version}`
      : `has been pinned to version ${version} for ${hours} of ${SOAK_HOURS} hours`
  return notice(
    'warn',
    `The sandbox ${has}. Run your integration in the sandbox for ${SOAK_HOURS} hours first, to find incompatibilities before they affect live.`,
  )
}

/** Asks for confirmation. The version is not pinned until the member submits this form. */
function askToPin(visit: DashboardVisit, version: string, warnings: Html, send: SendFramed): void {
  const { environment } = visit
  const address = `/${environment}/${PATH}`
  const content = html`${warnings}
<form method="post" action="${address}">
${visit.guard(address)}
<input type="hidden" name="version" value="${version}"><input type="hidden" name="${ANYWAY}" value="yes">
${visit.takesCode && codeField('pin')}
<div class="actions"><button type="submit" class="danger">Pin ${environment} anyway</button> <a class="button second" href="${address}">Back</a></div>
</form>`
  send(visit, 200, { title: `Pin ${environment} to ${version}?`, path: PATH, content })
}
