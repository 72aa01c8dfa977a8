/** Deliveries: their properties, and the version that their endpoint stays with. */
import { type WebhookEvent, unwrap } from '@acme/books'
import type { WebhookEvent as OldEvent } from '@acme/books/2030-01-01'

export const paintOf = (event: OldEvent): string | undefined =>
  event.type === 'book.lent' ? `${event.book.color} ${event.book.author_name}` : undefined

export async function receive(request: Request): Promise<string> {
  const event: WebhookEvent = await unwrap(await request.text(), request.headers, 'secret')
  if (event.version === '2030-01-01' && event.type === 'book.lent') return event.book.color
  return event.version
}
