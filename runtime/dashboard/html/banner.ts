/** A banner at the top of every console page, including the documentation. */
import type { RequestHandler } from 'express'
import { html } from '../../platform/html.ts'

/** Returns a handler that inserts the sentences into every HTML page that later handlers send. */
export function addBanner(sentences: readonly string[]): RequestHandler {
  const banner = html`<aside class="notice warn">${sentences.map((each) => html`<p>${each}.</p>`)}</aside>\n`
    .text
  const insert = (page: string) =>
    page.includes('<main') ? page.replace('<main', () => `${banner}<main`) : page + banner
  return (_request, response, next) => {
    const send = response.send.bind(response)
    response.send = (body: unknown) => {
      const isPage = `${response.get('Content-Type') ?? ''}`.startsWith('text/html')
      if (!isPage || !(typeof body === 'string' || Buffer.isBuffer(body))) return send(body)
      // A page with the banner needs its own ETag, so that a cached page without the banner is not reused.
      const tag = response.get('ETag')
      if (tag !== undefined) response.set('ETag', tag.replace(/"$/, '-banner"'))
      return send(insert(body.toString()))
    }
    next()
  }
}
