/** What the search of the documentation finds: an index made here, that the page's own script reads. */
import MiniSearch from 'minisearch'
import { readPackageFile } from '../../assets/assets.ts'
import { fragment } from '../reference/html.ts'
import type { SitePage } from './frame.ts'
import type { VersionIndex } from './version-pages.ts'

interface Entry {
  readonly id: number
  readonly title: string
  readonly kind: string
  readonly href: string
  readonly text: string
}

/** Read by `assets/site.js` too. */
const OPTIONS = { fields: ['title', 'text'], storeFields: ['title', 'kind', 'href'] }

/** @param newest version, whose pages lead to the others. @returns a script that sets `docsIndex`. */
export function printSearchIndex(pages: readonly SitePage[], newest: VersionIndex, home: string): string {
  const index = new MiniSearch<Entry>(OPTIONS)
  const found = [...pages.flatMap((page) => guideEntries(page, home)), ...referenceEntries(newest)]
  index.addAll(found.map((entry, id) => ({ ...entry, id })))
  return `globalThis.docsIndex = ${JSON.stringify(index)}\n`
}

/** The library in the form that a page can load by itself. */
export function readSearchLibrary(): string {
  const text = readPackageFile('minisearch', 'dist/es/index.js', 'dist/umd/index.js')
  return text.replace(/\n\/\/# sourceMappingURL.*\s*$/, '\n')
}

type Found = Omit<Entry, 'id'>

/** A written page, and each of its sections. */
function guideEntries({ path, title, description, markdown }: SitePage, home: string): Found[] {
  if (markdown === undefined) return []
  const href = `${home}/${path}`
  const sections = [...markdown.matchAll(/^## (.+)\n+([^\n]*)/gm)].map(([, heading = '', text = '']) => {
    const plain = heading.replace(/[`*]/g, '')
    return { title: plain, kind: title, href: `${href}#${fragment(plain.toLowerCase())}`, text }
  })
  return [{ title, kind: 'Guide', href, text: description }, ...sections]
}

function referenceEntries({ view, operations }: VersionIndex): Found[] {
  const ids = new Map([...operations].map(([id, each]) => [each, id]))
  return view.tags.flatMap((tag) => [
    { title: tag.title, kind: 'Reference', href: tag.href, text: tag.summary },
    ...tag.operations.map((each) => ({
      title: each.title,
      kind: tag.title,
      href: each.href,
      text: `${ids.get(each)} ${each.method} ${each.pathHtml.replace(/<[^>]*>/g, '')}`,
    })),
    ...tag.schemas.map((each) => ({
      title: each.name,
      kind: `${tag.title}, object`,
      href: each.href,
      text: each.fields.map(({ name }) => name).join(' '),
    })),
    ...tag.events.map((each) => ({
      title: each.name,
      kind: `${tag.title}, event`,
      href: each.href,
      text: each.textHtml.replace(/<[^>]*>/g, ''),
    })),
  ])
}
