/** What every page of the console says first, documentation included. */
import type { RequestHandler } from 'express'
import { html } from '../../platform/html.ts'

/** A handler that puts sentences at the top of every HTML page that later handlers send. */
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
      // A page without the banner must not be taken for the same.
      const tag = response.get('ETag')
      if (tag !== undefined) response.set('ETag', tag.replace(/"$/, '-banner"'))
      return send(insert(body.toString()))
    }
    next()
  }
}
