/** What the console's listener answers to people: the documentation, and whether the process lives. */
import express, { type Request, type Response, type Router } from 'express'
import { html } from '../platform/html.ts'
import { type DocsParts, serveDocs } from './docs.ts'
import { serveAssets } from './html/assets.ts'
import { sendPage, writePage } from './html/layout.ts'

const MISSING = writePage({
  title: 'Not found',
  narrow: true,
  content: html`<p>There is no such page. <a href="/docs">The documentation</a> is here.</p>`,
})

/** @returns the routes of the console, to be mounted at its root. They answer every request. */
export function createConsole(docs: DocsParts): Router {
  const router = express.Router({ caseSensitive: true })
  serveAssets(router)
  router
    .route('/livez')
    .get((_request, response) => void response.type('text').send('ok\n'))
    .all(refuseMethod)
  serveDocs(router, docs, refuseMethod)
  router.use(refuse)
  return router
}

function refuse(request: Pick<Request, 'get' | 'accepts'>, response: Response): void {
  if (prefersHtml(request)) return sendPage(response, 404, MISSING)
  response.status(404)
  response.json({ error: { type: 'not_found', code: 'not_found', message: 'There is no such page here.' } })
}

function refuseMethod(request: Request, response: Response): void {
  response.status(405).set('Allow', 'GET, HEAD')
  const message = `${request.method} is not possible here.`
  response.json({ error: { type: 'method_not_allowed', code: 'method_not_allowed', message } })
}

/** Programs that say nothing of what they accept read JSON. */
function prefersHtml(request: Pick<Request, 'get' | 'accepts'>): boolean {
  return request.get('Accept')?.includes('text/html') === true && request.accepts(['html', 'json']) === 'html'
}
