/** The header of every dashboard page: account, environment switch, search, documentation, and signed-in member. */
import { ENVIRONMENTS } from '../../platform/environment.ts'
import { type Html, html } from '../../platform/html.ts'
import { facts } from '../html/components.ts'
import { icon } from '../html/icons.ts'
import { type MenuEntry, writeGuides } from './menu.ts'
import { type DashboardVisit, mayAct, roleFor } from './visit.ts'

export const PREFERENCES_PATH = 'preferences'

const NAMES = { sandbox: 'Sandbox', live: 'Live' } as const

const HINT = 'Search by name, ID, or page'

/** @param entry the current page. */
export function writeHeader(
  visit: DashboardVisit,
  entry: Pick<MenuEntry, 'path' | 'group' | 'docs' | 'environment'>,
): Html {
  const { environment, member } = visit
  return html`<header class="bar ${environment}" data-member="${member.memberId}"${member.timeZone !== null && html` data-time-zone="${member.timeZone}"`}>
<button class="icon-button to-menu" type="button" popovertarget="menu" aria-label="Menu">${icon('menu')}</button>
<a class="home" href="/${environment}">${icon('wallet')}<span>Dashboard</span></a>
<span class="tenant">${member.tenantName}</span>
${writeSwitch(visit, entry)}
<form class="find" method="get" action="/${environment}/search" role="search" data-keys="/" data-keys-label="Search">${icon('search')}<input type="search" name="q" aria-label="${HINT}" aria-keyshortcuts="Control+K Meta+K /" placeholder="${HINT}" autocomplete="off"><kbd aria-hidden="true">Ctrl K</kbd></form>
<a class="icon-button to-search" href="/${environment}/search" aria-label="Search">${icon('search')}</a>
<nav class="guides" aria-label="Documentation">${writeGuides(entry)}</nav>
<button class="icon-button face" type="button" popovertarget="account" aria-label="Account: ${member.email}"><span aria-hidden="true">${member.email.slice(0, 1).toUpperCase()}</span></button>
${writeAccount(visit)}
</header>
`
}

/** The environment switch links to the same page in the other environment if it exists there. */
function writeSwitch(
  { environment, member }: DashboardVisit,
  { path, environment: only }: Pick<MenuEntry, 'path' | 'environment'>,
): Html {
  const links = ENVIRONMENTS.map(
    (each) =>
      html`<a href="/${each}${path && (only ?? each) === each && `/${path}`}"${each === environment && html` aria-current="true"`}>${NAMES[each]}</a>`,
  )
  const name = member.sandbox?.name ?? 'Default sandbox'
  const chosen = html`<span class="tenant"><a href="/sandbox/sandboxes" title="Choose a sandbox">${name}</a></span>`
  return html`<nav class="switch" aria-label="Environment">${links}</nav>${environment === 'sandbox' && mayAct(member.role, roleFor('listSandboxes')) && chosen}`
}

function writeAccount({ environment, member, timeZone }: DashboardVisit): Html {
  const link = (path: string, name: string, text: string) =>
    html`<li><a href="${path}">${icon(name)}${text}</a></li>`
  return html`<div class="account" id="account" role="group" aria-label="Account" popover>
${facts([
  ['Account', member.tenantName],
  ['Email', member.email],
  ['Role', member.role],
  ['Time zone', timeZone.replaceAll('_', ' ')],
])}
<ul>${link(`/${environment}/security`, 'shield-check', 'Sign-in and security')}
${link(`/${environment}/${PREFERENCES_PATH}`, 'globe', 'Preferences')}
${link(`/${environment}/sessions`, 'smartphone', 'Sessions')}
<li><button class="to-keys" type="button" data-keys="?" hidden>${icon('keyboard')}Keyboard shortcuts</button></li>
${link('/sign-out', 'log-out', 'Sign out')}</ul>
</div>`
}

/** Writes a form that `console.js` shows once if the time zone of the browser is not UTC. */
export function writeOffer(visit: DashboardVisit): Html {
  const { method, originalUrl } = visit.request
  const address = `/${visit.environment}/${PREFERENCES_PATH}`
  return html`<form class="offer" method="post" action="${address}" aria-label="Time zone" hidden>${visit.guard(address)}<input type="hidden" name="return_to" value="${method === 'GET' && originalUrl}">
<p></p>
<button type="submit" name="time_zone" value="">Change</button>
<button class="second" type="submit" name="time_zone" value="UTC">Keep UTC</button></form>
`
}
