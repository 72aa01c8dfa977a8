/** Reads the pages of the toolkit's documentation. `README.md` lists them, in groups; it is the first page and the navigation. */
import { readFileSync } from 'node:fs'
import { basename, join, normalize, posix } from 'node:path'

export interface ToolkitPage {
  /** Path from the root of the repository. */
  readonly file: string
  /** Name in the address; empty for the first page. */
  readonly slug: string
  readonly title: string
  /** The first paragraph, or the description in the list. */
  readonly description: string
  readonly group: string
  /** Links lead to pages of the site. */
  readonly markdown: string
}

const FOLDER = 'docs/toolkit'
const FIRST = `${FOLDER}/README.md`

/** Names of pages that a file name would not describe. */
const SLUGS: Readonly<Record<string, string>> = { [FIRST]: '', 'generators/README.md': 'package' }

const slugOf = (file: string): string => SLUGS[file] ?? basename(file, '.md')

/** `- [Tutorial](tutorial.md): Version an API in ten minutes.` */
const ENTRY = /^- \[([^\]]+)\]\(([^)]+)\): (.+)$/

/**
 * Returns the pages in the order of the list, the first page first.
 *
 * @throws Error if a page links to a file that is not a page
 */
export function readPages(): ToolkitPage[] {
  const first = readFileSync(FIRST, 'utf8')
  let group = ''
  const listed = first.split('\n').flatMap((line) => {
    group = /^## (.+)$/.exec(line)?.[1] ?? group
    const [, title, path, description] = ENTRY.exec(line) ?? []
    if (title === undefined || path === undefined || description === undefined) return []
    return [{ file: normalize(join(FOLDER, path)), title, description, group }]
  })
  const files = new Set([FIRST, ...listed.map(({ file }) => file)])
  const read = (file: string) => linkPages(file, readFileSync(file, 'utf8'), files)
  return [
    {
      file: FIRST,
      slug: '',
      title: 'dateline',
      description: descriptionOf(first),
      group: '',
      markdown: read(FIRST),
    },
    ...listed.map((each) => ({ ...each, slug: slugOf(each.file), markdown: read(each.file) })),
  ]
}

const descriptionOf = (text: string): string => (text.split('\n\n')[1] ?? '').replaceAll('\n', ' ')

/** Matches links to files. Code is skipped, because it may look like a link. */
const LINK = /(```[\s\S]*?```|`[^`\n]*`(?!\]))|(\]\()(?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)/g

/** Replaces links to files by links to pages. */
function linkPages(file: string, text: string, files: ReadonlySet<string>): string {
  return text.replace(LINK, (whole, code: string | undefined, start: string, path: string, anchor = '') => {
    if (code !== undefined) return whole
    const target = normalize(posix.join(posix.dirname(file), path))
    if (!files.has(target))
      throw new Error(`${file} links to ${path}, which ${FIRST} does not list as a page`)
    return `${start}/docs${slugOf(target) === '' ? '' : `/${slugOf(target)}`}${anchor})`
  })
}
