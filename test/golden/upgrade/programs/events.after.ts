/** Deliveries: their properties, and the version that their endpoint stays with. */
import { type WebhookEvent, unwrap } from '@acme/books'
import type { WebhookEvent as OldEvent } from '@acme/books/2030-12-01'

export const paintOf = (event: OldEvent): string | undefined =>
  event.type === 'book.lent' ? `${event.book.colour} ${event.book.author.name}` : undefined

export async function receive(request: Request): Promise<string> {
  const event: WebhookEvent = await unwrap(await request.text(), request.headers, 'secret')
  // upgrade 2030-12-01: deliveries stay in 2030-01-01 until their endpoint or account moves to 2030-12-01
  if (event.version === '2030-12-01' && event.type === 'book.lent') return event.book.colour
  return event.version
}
