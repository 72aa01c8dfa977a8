/** Sends the part of a documentation page that concerns the signed-in reader. */
import type { Html } from '../../../platform/html.ts'
import type { DashboardVisit } from '../../engine/visit.ts'
import { pageHeaders } from '../../html/layout.ts'

/**
 * Sends elements that `docs.js` adds to the page. The attribute `data-after` of each is the ID of the element that it
 * follows. No cache may store the response, because it is private.
 */
export function sendPart({ response }: DashboardVisit, status: number, part: Html): void {
  response.status(status).set({ ...pageHeaders(), 'Cache-Control': 'private, no-store' })
  response.type('html').send(part.text)
}
