/** Files that pages load: the style sheet, the icon, and scripts for what a page cannot do without one. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import type { Router } from 'express'
import { compress } from './compress.ts'

const FOLDER = new URL('assets/', import.meta.url)
/** How passes look on their own pages, for previews. */
const PASS_STYLE = new URL('../../passes/wallets/render/page/pass.css', import.meta.url)
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}
const A_YEAR_SECONDS = 31_536_000

/** An address changes with its file's text, so what it answers may be kept for ever. */
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

/** @returns the address of a file in `assets/`. @throws when there is none of that name. */
export function assetPath(name: string): string {
  const asset = ASSETS.get(name)
  if (!asset) throw new Error(`there is no asset ${name}`)
  return asset.path
}

/** Adds the routes of all files in `assets/`. */
export function serveAssets(router: Router): void {
  // Browsers ask for this address where a page names no icon, such as one of JSON.
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
