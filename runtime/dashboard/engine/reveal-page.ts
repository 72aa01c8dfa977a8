/** Shows secrets that the service stores and can show again, such as a card number, for a short time. */
import { type Html, html } from '../../platform/html.ts'
import type { SendFramed } from './frame.ts'
import type { DashboardVisit } from './visit.ts'

const SHOWN_SECONDS = 60

/** Removes the secrets when the page is left, because browsers can keep pages for the Back button. */
const SCRIPT = 'reveal.js'

/**
 * Sends the secrets. Browsers open the next page after `SHOWN_SECONDS`, also without scripts, and no cache may store the page.
 *
 * @param path first path segment below the environment.
 * @param next address of the page that follows.
 */
export function showRevealed(
  visit: DashboardVisit,
  { title, path, next, secrets }: { title: string; path: string; next: string; secrets: Html },
  send: SendFramed,
): void {
  visit.response.set('Refresh', `${SHOWN_SECONDS}; url=${next}`)
  const content = html`<div data-secret>${secrets}</div>
<p class="quiet countdown">Hidden again after ${String(SHOWN_SECONDS)} seconds. The audit log records that you viewed it.</p>
<div class="actions"><a class="button" href="${next}">Hide now</a></div>`
  send(visit, 200, { title, path, scripts: [SCRIPT], content })
}
