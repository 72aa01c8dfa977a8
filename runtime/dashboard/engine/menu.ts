/** The menu of the dashboard. */
import type { Environment } from '../../platform/environment.ts'
import { type Html, html } from '../../platform/html.ts'
import { icon } from '../html/icons.ts'
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
  /** Path of the page in the documentation, below `/docs/`. Absent if the documentation has no page about it. */
  readonly docs?: string | undefined
  /** Absent if both environments have the page. */
  readonly environment?: Environment
}

/** Menu entries in display order. */
export type Menu = readonly MenuEntry[]

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

/** Returns the entries that the environment has and the member may see. */
export function entriesFor(
  { environment, member }: Pick<DashboardVisit, 'environment' | 'member'>,
  entries: Menu,
): Menu {
  return entries.filter(
    ({ needs, environment: only = environment }) => only === environment && mayAct(member.role, needs),
  )
}

/** The guide of each menu group in `docs/site`. */
const GUIDES: Readonly<Record<string, string>> = {
  Passes: 'wallets',
  Cards: 'cards',
  Money: 'settlement',
  Developers: 'webhooks',
  Account: 'authentication',
}

/** Writes the links to the documentation of the current page and to the guide about its group. */
export function writeGuides({ group, docs }: Pick<MenuEntry, 'group' | 'docs'>): Html {
  return html`<a href="/docs${docs !== undefined && `/${docs}`}">${icon('book-open')}Docs</a>
<a href="/docs/${GUIDES[group] ?? 'quick-start'}">${icon('circle-question-mark')}Help</a>`
}

/**
 * Writes the menu. The group of the current page is open, and opening a group closes the other one. On narrow screens the
 * button in the header opens the menu.
 */
export function writeMenu(
  entries: Menu,
  { environment }: DashboardVisit,
  entry: Pick<MenuEntry, 'path' | 'group' | 'docs'>,
): Html {
  const { path, group: current } = entry
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
})}<div class="guides">${writeGuides(entry)}</div>
</nav>
`
}
