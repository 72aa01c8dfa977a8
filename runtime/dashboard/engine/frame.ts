/** The frame of every dashboard page: environment switch, search, menu, and signed-in member. */
import { ENVIRONMENTS, type Environment } from '../../platform/environment.ts'
import { type Html, html } from '../../platform/html.ts'
import { icon } from '../html/icons.ts'
import { type PageLayout, sendPage, writePage } from '../html/layout.ts'
import type { SignedInMember } from '../sign-in/sessions.ts'
import { type DashboardVisit, mayAct, type VisitRole } from './visit.ts'

export interface MenuEntry {
  readonly group: string
  readonly title: string
  /** Name of an icon in `icons.svg`. Absent for pages without a menu entry. */
  readonly icon?: string
  /** Path below the environment. */
  readonly path: string
  /** The least privileged role that sees the entry. */
  readonly needs: VisitRole
  /** Absent if both environments have the page. */
  readonly environment?: Environment
}

/** Menu entries in display order. */
export type Menu = readonly MenuEntry[]

export interface Framed extends Pick<PageLayout, 'title' | 'trail' | 'badge' | 'actions' | 'content'> {
  /** First path segment below the environment. */
  readonly path: string
  /** Scripts in `runtime/dashboard/html/assets/` that the page loads in addition to `console.js`. */
  readonly scripts?: readonly string[]
}

export type SendFramed = (visit: DashboardVisit, status: number, page: Framed) => void

export function createFrame(menu: Menu): SendFramed {
  return (visit, status, { path, scripts = [], ...page }) => {
    const { environment, member } = visit
    const frame = {
      header: writeHeader(environment, menu.find((entry) => entry.path === path) ?? { path }),
      menu: writeMenu(menu, environment, path, member),
    }
    sendPage(visit.response, status, writePage({ ...page, frame, scripts: ['console.js', ...scripts] }))
  }
}

const NAMES = { sandbox: 'Sandbox', live: 'Live' } as const

/** Writes the header. The environment switch links to the same page in the other environment if it exists there. */
function writeHeader(
  environment: Environment,
  { path, environment: only }: Pick<MenuEntry, 'path' | 'environment'>,
): Html {
  const others = ENVIRONMENTS.map(
    (each) =>
      html`<a href="/${each}${path && (only ?? each) === each && `/${path}`}"${each === environment && html` aria-current="true"`}>${NAMES[each]}</a>`,
  )
  return html`<header class="bar ${environment}">
<a class="home" href="/${environment}">Dashboard</a>
<nav class="switch" aria-label="Environment">${others}</nav>
<form class="find" method="get" action="/${environment}/search" role="search"><input type="search" name="q" aria-label="Search by ID, name, or page" aria-keyshortcuts="Control+K Meta+K" placeholder="Search by ID, name, or page" autocomplete="off"></form>
<a class="to-menu" href="#menu">Menu</a>
</header>
`
}

function writeMenu(menu: Menu, environment: Environment, path: string, member: SignedInMember): Html {
  const readable = menu.filter(
    ({ needs, environment: only = environment }) => only === environment && mayAct(member.role, needs),
  )
  const groups = [...Map.groupBy(readable, ({ group }) => group)]
  const current = groups.find(([, entries]) => entries.some((each) => each.path === path))
  return html`<nav class="menu" id="menu" aria-label="Pages">
${groups.map(([group, entries]) => {
  const links = html`<ul>${entries.map(
    (each) =>
      html`<li><a href="/${environment}${each.path && `/${each.path}`}"${
        each.path === path && html` aria-current="page"`
      }>${each.icon !== undefined && icon(each.icon)}${each.title}</a></li>`,
  )}</ul>
`
  if (group === '') return links
  return html`<details name="menu"${group === current?.[0] && html` open`}><summary>${group}${icon('chevron-right')}</summary>
${links}</details>
`
})}<div class="who"><p>${member.email}<br><span class="quiet">${member.role}</span></p><a href="/sign-out">${icon('log-out')}Sign out</a></div>
</nav>
`
}
