/**
 * Exports the documentation as static files. Links are relative and page names have extensions, so it also works
 * without a server.
 */
import { dirname, posix } from 'node:path'
import type { OutputFile } from '../ir/model.ts'

const FOLDER = 'site/'
/** Links to paths of the server outside the documentation. */
const BESIDE = / href="\/(?!docs(?:[/"?#]|$))([^"]*)"/g
const LINK =
  /(?<=(?:href|src|data-index|data-library|data-texts)=")\/docs(\/[^"#?]*)?(\?(?:&#x3D;|[^"#])*)?(#[^"]*)?(?=")/g

/**
 * Returns the files of the exported folder.
 *
 * @param files all output.
 * @param documents OpenAPI documents by path below the folder: `2030-01-01/openapi.json`.
 */
export function exportSite(files: readonly OutputFile[], documents: readonly OutputFile[]): OutputFile[] {
  const own = files.filter(({ path }) => path.startsWith(FOLDER))
  const all = [...own.map(({ path, text }) => ({ path: path.slice(FOLDER.length), text })), ...documents]
  const known = new Set(all.map(({ path }) => path))
  return all.map(({ path, text }) => ({
    path,
    text: path.endsWith('.html') ? relativeLinks(path, text, known) : text,
  }))
}

function relativeLinks(from: string, text: string, known: ReadonlySet<string>): string {
  const root = posix.relative(posix.dirname(from), '.') || '.'
  return text
    .replace(BESIDE, (_link, path: string) => {
      // Paths of the server do not exist in an exported folder, so the link is removed.
      return known.has(path) ? ` href="${posix.relative(dirname(from), path)}"` : ''
    })
    .replace('<html lang="en">', `<html lang="en" data-root="${root}">`)
    .replace(LINK, (_link, path: string | undefined, _query, anchor = '') => {
      const name = (path ?? '/index').slice(1)
      const target = known.has(name) ? name : `${name}.html`
      return target === from && anchor !== '' ? anchor : posix.relative(dirname(from), target) + anchor
    })
}
