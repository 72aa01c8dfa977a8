/** What the console's listener answers to people: the reference of each version, and whether the process lives. */
import express, { type Request, type Response, type Router } from 'express'
import { serveAssets } from './page/assets.ts'
import { createPage, type Page } from './pages.ts'

export interface ConsoleParts {
  /** The reference of each version, by version. */
  readonly references: ReadonlyMap<string, Page>
  /** The version that `/docs` leads to. */
  readonly current: string
}

const MISSING = createPage(
  '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Not found</title>\n' +
    '<h1>Not found</h1>\n<p>There is no such page. <a href="/docs">The reference</a> is here.</p>\n</html>\n',
)

/** @returns the routes of the console, to be mounted at its root. They answer every request. */
export function createConsole({ references, current }: ConsoleParts): Router {
  const router = express.Router({ caseSensitive: true })
  const read = (path: string, handler: (request: Request<{ version: string }>, response: Response) => void) =>
    router.route(path).get(handler).all(refuseMethod)

  serveAssets(router)
  read('/livez', (_request, response) => void response.type('text').send('ok\n'))
  read('/docs', (_request, response) => response.redirect(302, `/docs/${current}`))
  read('/docs/:version', (request, response) => {
    const page = references.get(request.params.version)
    return page ? sendPage(response, page) : refuse(request, response)
  })
  router.use(refuse)
  return router
}

/** Express answers 304 by itself when the reader has this very page. */
function sendPage(response: Response, page: Page): void {
  response.set({
    'Cache-Control': 'no-cache',
    'Content-Security-Policy': page.contentSecurityPolicy,
    'Content-Type': 'text/html; charset=utf-8',
    'Cross-Origin-Opener-Policy': 'same-origin',
    ETag: page.etag,
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
  })
  response.send(page.bytes)
}

function refuse(request: Pick<Request, 'get' | 'accepts'>, response: Response): void {
  response.status(404)
  if (prefersHtml(request)) return sendPage(response, MISSING)
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
