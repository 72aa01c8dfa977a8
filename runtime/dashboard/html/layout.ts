/** The common layout and response headers of all console pages. */
import type { Request, Response } from 'express'
import { type Html, html } from '../../platform/html.ts'
import { assetPath } from './assets.ts'

export interface PageLayout {
  /** Heading of the page and title of the browser tab. */
  readonly title: string
  /** Content above the heading, such as a link to the list of a record. */
  readonly trail?: Html | undefined
  /** Content beside the heading, such as the status of a record. */
  readonly badge?: Html | undefined
  /** Links and buttons of the page, at the end of the heading's line. */
  readonly actions?: Html | undefined
  /** Uses a narrow column, for a single form or message. */
  readonly narrow?: boolean
  /** Header and menu around the content. */
  readonly frame?: { readonly header: Html; readonly menu: Html; readonly toast?: Html | undefined }
  /** Style sheets in `assets/`, in addition to `console.css`. */
  readonly styles?: readonly string[]
  /** Scripts in `assets/`. Pages and forms also work without them. */
  readonly scripts?: readonly string[]
  readonly content: Html
}

/** The font is loaded with the style sheet. If it is late, the page keeps the font of the system, so that nothing moves. */
const FONT = html`<link rel="preload" as="font" type="font/woff2" href="${assetPath('inter-latin-wght-normal.woff2')}" crossorigin>\n`

/** Scripts change texts, so the browser shows the page after they have run. */
const writeScript = (name: string): Html =>
  html`<script type="module" src="${assetPath(name)}" blocking="render"></script>\n`

/** Returns the complete HTML document. */
export function writePage(page: PageLayout): Html {
  const { title, narrow = false, trail, badge, actions, frame, styles = [], scripts = [], content } = page
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${assetPath('favicon.svg')}">
${['console.css', ...styles].map((name) => html`<link rel="stylesheet" href="${assetPath(name)}">\n`)}${FONT}${scripts.map(writeScript)}${frame?.header}<main${narrow && html` class="narrow"`}>
${trail && html`<p class="trail">${trail}</p>\n`}<div class="heading"><h1>${title}</h1>${badge}${actions}</div>
${content}
</main>
${frame?.menu}${frame?.toast}</html>
`
}

/** Returns a page with a single message. */
export function writeNotice(title: string, text: string): Html {
  return writePage({ title, narrow: true, content: html`<p>${text}</p>` })
}

/**
 * Returns headers for pages with private data: no framing, no caching, and no referrer.
 *
 * @param formTarget an origin or a scheme, other than the console, to which the form of the page may redirect.
 */
export function pageHeaders(formTarget = ''): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; form-action 'self'${
      formTarget && ` ${formTarget}`
    }; base-uri 'none'; frame-ancestors 'none'`,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  }
}

/** Sends 405 for a page that shows and accepts a form. */
export function refuseMethod(_request: Request, response: Response): void {
  response.set('Allow', 'GET, HEAD, POST')
  sendPage(response, 405, writeNotice('Method not allowed', 'This page supports only GET, HEAD, and POST.'))
}

/** Sends the page. @param formTarget see `pageHeaders`. */
export function sendPage(response: Response, status: number, page: Html, formTarget?: string): void {
  response.status(status).set(pageHeaders(formTarget)).type('html').send(page.text)
}
