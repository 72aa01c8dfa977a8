/** Serves the generated documentation and the OpenAPI documents below `/docs`. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import type { NextFunction, Request, Response, Router } from 'express'
import { type BaseUrls, withBaseUrls } from '../tenants/addresses/base-urls.ts'
import { assetPath } from './html/assets.ts'
import { compress } from './html/compress.ts'

export interface DocsParts {
  /** Output folder of the toolkit: pages and YAML documents in `site/`, JSON documents in one folder per version. */
  readonly generated: string
  readonly versions: readonly string[]
  /** Readers try requests from a page with the URL of the sandbox. URLs in the feed are relative to that of the console. */
  readonly baseUrls: BaseUrls
  /** Addresses of the lookups of sandbox records, by the prefix of their IDs. They need a session. */
  readonly lookups: Readonly<Record<string, string>>
  /** Builds the pages if they are missing. */
  readonly build: () => Promise<void>
}

const PAGES = 'site/'
/** Served at the root of the console, not below `/docs`. */
const FEED = 'changelog.xml'
const TYPES: Readonly<Record<string, string>> = {
  '.xml': 'application/atom+xml; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.yaml': 'application/yaml; charset=utf-8',
  '.svg': 'image/svg+xml',
}
/** OpenAPI documents, and collections of their requests. */
const HAS_ORIGINS = /\/(?:openapi\.yaml|postman\.json|bruno\.json)$/
const A_YEAR_SECONDS = 31_536_000

interface ServedFile {
  readonly file: string
  /** Content hash. Undefined for files in which the origins of the deployment replace those of the documents. */
  readonly hash: string | undefined
}

/** Adds `/docs` and all routes below it. @param refuseMethod answers methods other than GET and HEAD. */
export function serveDocs(
  router: Router,
  parts: DocsParts,
  refuseMethod: (request: Request, response: Response) => void,
): void {
  const find = openListing(parts)
  const policy = contentSecurityPolicy(new URL(parts.baseUrls.sandbox).origin)
  const read = async (request: Request, response: Response, next: NextFunction) => {
    const path = pathOf(request.path)
    const served = path === undefined ? undefined : (findDocument(parts, path) ?? (await find(path)))
    if (!served) return next('route')
    const extension = extname(served.file)
    const isPage = extension === '.html'
    const type = TYPES[extension] ?? 'application/octet-stream'
    response.set({
      // Pages add a content hash (`?v=`) to the URLs of their assets, so these responses never change.
      'Cache-Control':
        request.query.v === undefined ? 'no-cache' : `public, max-age=${A_YEAR_SECONDS}, immutable`,
      'Content-Security-Policy': policy,
      'Content-Type': type,
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
      // Scripts of any origin may read machine-readable files.
      ...(!/html|css|javascript|svg/.test(type) && { 'Access-Control-Allow-Origin': '*' }),
      ...(served.hash !== undefined && { ETag: `W/"${served.hash}${isPage ? ADDED_HASH : ''}"` }),
    })
    const bytes = await readFile(served.file)
    if (isPage) response.send(withConsole(bytes.toString()))
    else if (path === FEED) response.send(withBase(bytes.toString(), parts.baseUrls.console))
    else response.send(served.hash === undefined ? withBaseUrls(bytes.toString(), parts.baseUrls) : bytes)
  }
  // Language models look for the index at the root (llmstxt.org).
  router
    .route('/llms.txt')
    .get((_request, response) => response.redirect('/docs/llms.txt'))
    .all(refuseMethod)
  // RFC 9309: crawlers may index the documentation, but not the dashboard.
  router
    .route('/robots.txt')
    .get(
      (_request, response) =>
        void response
          .type('text/plain')
          .send('User-agent: *\nAllow: /docs\nAllow: /changelog.xml\nDisallow: /\n'),
    )
    .all(refuseMethod)
  router
    .route('/docs/try.json')
    .get(
      (_request, response) =>
        void response.json({
          base_url: parts.baseUrls.sandbox,
          records: parts.lookups,
          sign_in: '/sign-in',
        }),
    )
    .all(refuseMethod)
  router
    .route(/^\/(?:docs(?:\/.*)?|changelog\.xml)$/)
    .get(compress, read)
    .all(refuseMethod)
}

const TO_DASHBOARD = '<li><a href="/sandbox">Dashboard</a></li>'

/** What the console adds to each page, before these texts: links to the dashboard, and what `docs.js` shows. */
const ADDED: Readonly<Record<string, string>> = {
  '</head>': `<link rel="stylesheet" href="${assetPath('docs.css')}">\n<script type="module" src="${assetPath('docs.js')}"></script>\n`,
  '</ul>\n</nav>\n<form class="search"': `${TO_DASHBOARD}\n`,
  '</nav>\n<main ': `<ul class="to-dashboard">${TO_DASHBOARD}</ul>\n`,
}

/** Part of the tag of each page, because the page changes with what is added. */
const ADDED_HASH = `-${createHash('sha256').update(JSON.stringify(ADDED)).digest('hex').slice(0, 16)}`

/** Adds the parts of the console. They are the same for all readers. */
const withConsole = (page: string): string =>
  Object.entries(ADDED).reduce((text, [before, added]) => text.replace(before, added + before), page)

/** Adds the base URL, which feed readers need to resolve relative URLs. */
const withBase = (feed: string, consoleUrl: string): string =>
  feed.replace('<feed ', `<feed xml:base="${consoleUrl}/" `)

/** Allows scripts and styles only from the console, and requests only to the console and the sandbox. */
function contentSecurityPolicy(sandbox: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self' ${sandbox}`,
    "img-src 'self' data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Returns the path below `/docs`, or undefined if the path cannot be decoded. */
function pathOf(path: string): string | undefined {
  try {
    return decodeURIComponent(path)
      .replace(/^\/(?:docs\/?)?/, '')
      .replace(/\/$/, '')
  } catch {
    return undefined
  }
}

function findDocument({ versions, generated }: DocsParts, path: string): ServedFile | undefined {
  const version = /^([^/]+)\/openapi\.json$/.exec(path)?.[1] ?? ''
  if (!versions.includes(version)) return undefined
  return { file: join(generated, version, 'openapi.json'), hash: undefined }
}

/** Serves only files in the manifest. The first request waits for the build if the pages are missing. */
function openListing({ generated, build }: DocsParts): (path: string) => Promise<ServedFile | undefined> {
  let listing: Promise<ReadonlyMap<string, ServedFile>> | undefined
  const open = async () => {
    await build()
    const text = await readFile(join(generated, 'manifest.json'), 'utf8')
    const { files } = JSON.parse(text) as { readonly files: Readonly<Record<string, string>> }
    const pages = Object.entries(files).filter(([path]) => path.startsWith(PAGES))
    return new Map(
      pages.map(([path, hash]) => [
        path.slice(PAGES.length),
        { file: join(generated, path), hash: HAS_ORIGINS.test(path) ? undefined : hash },
      ]),
    )
  }
  return async (path) => {
    listing ??= open()
    listing.catch(() => (listing = undefined))
    const files = await listing
    return files.get(path === '' ? 'index.html' : `${path}.html`) ?? files.get(path)
  }
}
