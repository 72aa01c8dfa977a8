/** The documentation as a folder of files that any server, or none, can show: links are relative, pages are called what they are. */
import { dirname, posix } from 'node:path'
import type { OutputFile } from '../ir/model.ts'

const FOLDER = 'site/'
/** What stands at the root of the server, beside the documentation. */
const BESIDE = / href="\/(?!docs(?:[/"?#]|$))([^"]*)"/g
const LINK =
  /(?<=(?:href|src|data-index|data-library)=")\/docs(\/[^"#?]*)?(\?(?:&#x3D;|[^"#])*)?(#[^"]*)?(?=")/g

/** @param files all output. @param documents text by path below the folder: `2030-01-01/openapi.json`. @returns what the folder holds. */
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
      // A place of the server's own is no link in a folder.
      return known.has(path) ? ` href="${posix.relative(dirname(from), path)}"` : ''
    })
    .replace('<html lang="en">', `<html lang="en" data-root="${root}">`)
    .replace(LINK, (_link, path: string | undefined, _query, anchor = '') => {
      const name = (path ?? '/index').slice(1)
      const target = known.has(name) ? name : `${name}.html`
      return target === from && anchor !== '' ? anchor : posix.relative(dirname(from), target) + anchor
    })
}
