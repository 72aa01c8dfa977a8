/** What every page of the console stands in: its head, its style sheet and what a browser is told of it. */
import type { Response } from 'express'
import { type Html, html } from '../../platform/html.ts'
import { assetPath } from './assets.ts'

export interface PageLayout {
  /** The page's heading, and what its tab says. */
  readonly title: string
  /** A form or a message alone: a narrow column. */
  readonly narrow?: boolean
  /** What stands around the page's content: above and beside it. */
  readonly frame?: { readonly header: Html; readonly menu: Html }
  /** Files in `assets/` that the page runs. What it says and its forms do not need them. */
  readonly scripts?: readonly string[]
  readonly content: Html
}

/** @returns the whole document. */
export function writePage({ title, narrow = false, frame, scripts = [], content }: PageLayout): Html {
  return html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${assetPath('favicon.svg')}">
<link rel="stylesheet" href="${assetPath('console.css')}">
${scripts.map((name) => html`<script type="module" src="${assetPath(name)}"></script>\n`)}${frame?.header}<main${narrow && html` class="narrow"`}>
<h1>${title}</h1>
${content}
</main>
${frame?.menu}</html>
`
}

/** A page that says one thing. */
export function writeNotice(title: string, text: string): Html {
  return writePage({ title, narrow: true, content: html`<p>${text}</p>` })
}

/**
 * Pages hold what is a member's own: not framed, not kept, their addresses not told to others.
 *
 * @param formTarget where the answer to the page's form may lead beside the console itself: an origin or a scheme.
 */
export function pageHeaders(formTarget = ''): Record<string, string> {
  return {
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; form-action 'self'${
      formTarget && ` ${formTarget}`
    }; base-uri 'none'; frame-ancestors 'none'`,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  }
}

/** @param formTarget as of `pageHeaders`. */
export function sendPage(response: Response, status: number, page: Html, formTarget?: string): void {
  response.status(status).set(pageHeaders(formTarget)).type('html').send(page.text)
}
