/** The frame of every dashboard page: header and menu. */
import type { Environment } from '../../platform/environment.ts'
import { type Html, html } from '../../platform/html.ts'
import { icon } from '../html/icons.ts'
import { type PageLayout, sendPage, writePage } from '../html/layout.ts'
import { writeGuides, writeHeader } from './header.ts'
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

const SCRIPTS = ['console.js', 'palette.js', 'keys.js']

/** Keys that open pages, by path. */
const KEYS: Readonly<Record<string, string>> = {
  '': 'g h',
  passes: 'g p',
  'pass-templates': 'g m',
  cards: 'g c',
  cardholders: 'g u',
  'card-transactions': 'g t',
  balance: 'g b',
  payouts: 'g o',
  events: 'g e',
  'webhook-endpoints': 'g w',
  requests: 'g r',
  keys: 'g k',
}

/** @param linked pages without a menu entry, which other pages link to. */
export function createFrame(menu: Menu, linked: Menu): SendFramed {
  return (visit, status, { path, scripts = [], ...page }) => {
    const entry = [...menu, ...linked].find((each) => each.path === path) ?? { path, group: '' }
    const done = visit.takeDone()
    const frame = {
      toast: done === undefined ? undefined : writeToast(done),
      header: writeHeader(visit, entry),
      menu: writeMenu(entriesFor(visit, menu), visit, entry),
    }
    sendPage(visit.response, status, writePage({ ...page, frame, scripts: [...SCRIPTS, ...scripts] }))
  }
}

/** Returns the entries that the environment has and the member may see. */
export function entriesFor(
  { environment, member }: Pick<DashboardVisit, 'environment' | 'member'>,
  entries: Menu,
): Menu {
  return entries.filter(
    ({ needs, environment: only = environment }) => only === environment && mayAct(member.role, needs),
  )
}

/** Writes a message that floats above the page and disappears by itself. */
export function writeToast(text: string): Html {
  return html`<div class="toast" role="status">${icon('circle-check')}<span>${text}</span></div>\n`
}

/**
 * Writes the menu. The group of the current page is open, and opening a group closes the other one. On narrow screens the
 * button in the header opens the menu.
 */
function writeMenu(
  entries: Menu,
  { environment }: DashboardVisit,
  { path, group: current }: Pick<MenuEntry, 'path' | 'group'>,
): Html {
  const groups = [...Map.groupBy(entries, ({ group }) => group)]
  return html`<nav class="menu" id="menu" aria-label="Pages" popover>
${groups.map(([group, within]) => {
  const links = html`<ul>${within.map(
    (each) =>
      html`<li><a href="/${environment}${each.path && `/${each.path}`}"${
        each.path === path && html` aria-current="page"`
      }${KEYS[each.path] !== undefined && html` data-keys="${KEYS[each.path]}"`}>${each.icon !== undefined && icon(each.icon)}${each.title}</a></li>`,
  )}</ul>
`
  if (group === '') return links
  return html`<details name="menu"${group === current && html` open`}><summary>${group}${icon('chevron-right')}</summary>
${links}</details>
`
})}<div class="guides">${writeGuides(current)}</div>
</nav>
`
}
