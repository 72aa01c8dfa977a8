/** The frame of every dashboard page: header and menu. */
import { type Html, html } from '../../platform/html.ts'
import { icon } from '../html/icons.ts'
import { type PageLayout, sendPage, writePage } from '../html/layout.ts'
import { writeHeader, writeOffer } from './header.ts'
import { entriesFor, type Menu, writeMenu } from './menu.ts'
import type { DashboardVisit } from './visit.ts'

export interface Framed extends Pick<PageLayout, 'title' | 'trail' | 'badge' | 'actions' | 'content'> {
  /** First path segment below the environment. */
  readonly path: string
  /** Scripts in `runtime/dashboard/html/assets/` that the page loads in addition to `console.js`. */
  readonly scripts?: readonly string[]
}

export type SendFramed = (visit: DashboardVisit, status: number, page: Framed) => void

const SCRIPTS = ['console.js', 'palette.js', 'keys.js']

/** @param linked pages without a menu entry, which other pages link to. */
export function createFrame(menu: Menu, linked: Menu): SendFramed {
  return (visit, status, { path, scripts = [], ...page }) => {
    const entry = [...menu, ...linked].find((each) => each.path === path) ?? { path, group: '' }
    const done = visit.takeDone()
    const frame = {
      notes: html`${done !== undefined && writeToast(done)}${visit.member.timeZone === null && writeOffer(visit)}`,
      header: writeHeader(visit, entry),
      menu: writeMenu(entriesFor(visit, menu), visit, entry),
    }
    sendPage(visit.response, status, writePage({ ...page, frame, scripts: [...SCRIPTS, ...scripts] }))
  }
}

/** Writes a message that floats above the page and disappears by itself. */
export function writeToast(text: string): Html {
  return html`<div class="toast" role="status">${icon('circle-check')}<span>${text}</span></div>\n`
}
