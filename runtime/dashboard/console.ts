/** The routes of the console that need no account: documentation, assets, and `/livez`. */
import express, { type Request, type Response, type Router } from 'express'
import { html } from '../platform/html.ts'
import { writeDesign } from './design.ts'
import { type DocsParts, serveDocs } from './docs.ts'
import { serveAssets } from './html/assets.ts'
import { sendPage, writePage } from './html/layout.ts'

const MISSING = writePage({
  title: 'Not found',
  narrow: true,
  content: html`<p>This page does not exist. Go to the <a href="/docs">documentation</a>.</p>`,
})

export interface ConsoleRoutes extends DocsParts {
  /** Whether to serve `/design`, which shows the components of the pages. Not in production. */
  readonly showsDesign: boolean
}

/** Returns the routes of the console. Mount them at its root, last, because they answer every request. */
export function createConsole({ showsDesign, ...docs }: ConsoleRoutes): Router {
  const router = express.Router({ caseSensitive: true })
  if (showsDesign)
    router.get('/design', async (_request, response) => sendPage(response, 200, await writeDesign()))
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
  response.json({ error: { type: 'not_found', code: 'not_found', message: 'This page does not exist.' } })
}

function refuseMethod(request: Request, response: Response): void {
  response.status(405).set('Allow', 'GET, HEAD')
  const message = `${request.method} is not allowed for this path. Use GET or HEAD.`
  response.json({ error: { type: 'method_not_allowed', code: 'method_not_allowed', message } })
}

/** Clients without an Accept header get JSON. */
function prefersHtml(request: Pick<Request, 'get' | 'accepts'>): boolean {
  return request.get('Accept')?.includes('text/html') === true && request.accepts(['html', 'json']) === 'html'
}
