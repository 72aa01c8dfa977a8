/** Static files of the pages: style sheets, fonts, icons, and scripts. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import type { Router } from 'express'
import { compress } from './compress.ts'

const FOLDER = new URL('assets/', import.meta.url)
/** Parts of `console.css` in `assets/console/`, in cascade order. */
const CONSOLE_STYLES = [
  'tokens',
  'base',
  'frame',
  'forms',
  'tables',
  'records',
  'charts',
  'home',
  'passes',
  'money',
  'developers',
]
/** Files outside `assets/`: the style sheet of the pass pages, which previews also use, and the font. */
const OTHER_FILES = [
  new URL('../../passes/wallets/render/page/pass.css', import.meta.url),
  ...['inter-latin-wght-normal.woff2', 'inter-latin-ext-wght-normal.woff2'].map(
    (name) => new URL(import.meta.resolve(`@fontsource-variable/inter/files/${name}`)),
  ),
]
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}
const A_YEAR_SECONDS = 31_536_000

const ASSETS = new Map<string, { readonly path: string; readonly type: string; readonly bytes: Buffer }>()
for (const file of [...readdirSync(FOLDER).map((name) => new URL(name, FOLDER)), ...OTHER_FILES])
  addAsset(basename(file.pathname), () => readFileSync(file))
addAsset('console.css', readConsoleStyle)

/** The URL contains a hash of the content, so browsers may cache the response permanently. */
function addAsset(name: string, read: () => Buffer): void {
  const type = TYPES[extname(name)]
  if (type === undefined) return
  const bytes = read()
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16)
  ASSETS.set(name, { path: `/assets/${digest}/${name}`, type, bytes })
}

/** Joins the parts of the style sheet. `url("NAME")` refers to another asset. */
function readConsoleStyle(): Buffer {
  const parts = CONSOLE_STYLES.map((name) => readFileSync(new URL(`console/${name}.css`, FOLDER), 'utf8'))
  const text = parts
    .join('\n')
    .replaceAll(/url\("([\w.-]+)"\)/g, (_, name: string) => `url("${assetPath(name)}")`)
  return Buffer.from(text)
}

const SCHEMES = ['light', 'dark'] as const

/** Names and values of the tokens of the style sheet in a color scheme. */
function tokensOf(scheme: (typeof SCHEMES)[number]): ReadonlyMap<string, string> {
  const [base = '', dark = ''] = readFileSync(new URL('console/tokens.css', FOLDER), 'utf8').split('@media')
  const rules = scheme === 'dark' ? base + dark : base
  return new Map(
    Array.from(rules.matchAll(/--([\w-]+): ([^;]+);/g), ([, name = '', value = '']) => [name, value]),
  )
}

/** Color schemes with the tokens of the style sheet. An element with the class `scheme-NAME` shows a scheme in `design.css`. */
export const COLOR_SCHEMES = SCHEMES.map((name) => ({ name, tokens: tokensOf(name) }))

addAsset('design.css', () =>
  Buffer.from(
    COLOR_SCHEMES.map(({ name, tokens }) => {
      const colors = [...tokens].map(([token, value]) => `--${token}:${value}`)
      return `.scheme-${name}{color-scheme:${name};${colors.join(';')};background:var(--ground);color:var(--text)}`
    }).join('\n'),
  ),
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
