/** Static files of the pages: style sheets, icon, and scripts. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import type { Router } from 'express'
import { compress } from './compress.ts'

const FOLDER = new URL('assets/', import.meta.url)
/** Style sheet of the pass pages, which previews also use. */
const PASS_STYLE = new URL('../../passes/wallets/render/page/pass.css', import.meta.url)
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const A_YEAR_SECONDS = 31_536_000

/** The URL contains a hash of the content, so browsers may cache the response permanently. */
const ASSETS: ReadonlyMap<string, { readonly path: string; readonly type: string; readonly bytes: Buffer }> =
  new Map(
    [...readdirSync(FOLDER).map((name) => new URL(name, FOLDER)), PASS_STYLE].flatMap((file) => {
      const name = basename(file.pathname)
      const type = TYPES[extname(name)]
      if (type === undefined) return []
      const bytes = readFileSync(file)
      const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
      return [[name, { path: `/assets/${digest}/${name}`, type, bytes }]]
    }),
  )

/** Returns the URL path of a file in `assets/`. @throws if no file has this name. */
export function assetPath(name: string): string {
  const asset = ASSETS.get(name)
  if (!asset) throw new Error(`asset not found: ${name}`)
  return asset.path
}

export function serveAssets(router: Router): void {
  // Browsers request this path if a response, such as JSON, does not link to an icon.
  router.get('/favicon.ico', (_request, response) => {
    response.set({ 'Cache-Control': 'public, max-age=86400', 'Content-Type': 'image/svg+xml' })
    response.send(ASSETS.get('favicon.svg')?.bytes)
  })
  for (const { path, type, bytes } of ASSETS.values()) {
    router.get(path, compress, (_request, response) => {
      response.set({
        'Cache-Control': `public, max-age=${A_YEAR_SECONDS}, immutable`,
        'Content-Type': type,
        'X-Content-Type-Options': 'nosniff',
      })
      response.send(bytes)
    })
  }
}
