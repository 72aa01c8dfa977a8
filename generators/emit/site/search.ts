/** Builds the search index and the texts that results show, which the pages' own script loads. */
import MiniSearch from 'minisearch'
import { readPackageFile } from '../../assets/assets.ts'
import { groupBy } from '../../ir/group-by.ts'
import { CONVENTIONS } from '../reference/page.ts'
import type { FieldView, InsideView, OperationView, SchemaView, ValueView } from '../reference/views.ts'
import type { SitePage } from './frame.ts'
import { anchorOf } from './page-markdown.ts'
import { decode } from './plain-text.ts'
import type { VersionIndex } from './version-pages.ts'

interface SearchEntry extends SearchTexts {
  readonly title: string
  readonly kind: string
  /** Address; in the reference, below the first page of a version. */
  readonly href: string
}

/** The parts of an entry that only its results need. */
interface SearchTexts {
  /** Versions whose reference has it, newest first. Empty for guides. */
  readonly versions: readonly string[]
  readonly lines: readonly SearchLine[]
}

/** A statement, with the versions that have it if those are not all versions of the entry. */
type SearchLine = string | readonly [text: string, versions: readonly string[]]

const INDEX = 'globalThis.docsIndex = '
const TEXTS = 'globalThis.docsTexts = '

/** Also used by `assets/site.js`. */
const OPTIONS = { fields: ['title', 'text'], storeFields: ['title', 'kind', 'href'] }

/**
 * Returns two scripts: the index sets `docsIndex`, and the texts set `docsTexts`, the versions and lines of each entry.
 *
 * @param versions the references, oldest first. Empty if there is no reference.
 */
export function printSearch(
  pages: readonly SitePage[],
  home: string,
  versions: readonly VersionIndex[] = [],
): SearchScripts {
  const index = new MiniSearch<Omit<SearchEntry, keyof SearchTexts> & { id: number; text: string }>(OPTIONS)
  const found = [...pages.flatMap((page) => guideEntries(page, home)), ...mergeVersions(versions, home)]
  index.addAll(
    found.map(({ lines, versions: _, ...entry }, id) => ({ ...entry, id, text: uniqueWords(lines) })),
  )
  const texts = found.map(({ versions, lines }): SearchTexts => ({ versions, lines }))
  return {
    index: `${INDEX}${JSON.stringify(index)}\n`,
    texts: `${TEXTS}${JSON.stringify(texts)}\n`,
  }
}

export interface SearchScripts {
  readonly index: string
  readonly texts: string
}

export type SearchHit = Pick<SearchEntry, 'title' | 'kind' | 'href'>

/**
 * Returns the search of pages that have the scripts, with complete addresses.
 *
 * @param version the reference to which hits lead, if it has them; otherwise they lead to the newest one that has them.
 */
export function openSearch(
  { index, texts }: SearchScripts,
  home: string,
  version: string,
): (words: string) => readonly SearchHit[] {
  const search = MiniSearch.loadJSON<SearchEntry>(index.slice(INDEX.length), OPTIONS)
  const entries = JSON.parse(texts.slice(TEXTS.length)) as readonly SearchTexts[]
  return (words) =>
    search.search(words).map(({ id, title, kind, href }) => {
      const { versions } = entries[id as number]!
      const shown = versions.includes(version) ? version : versions[0]
      return { title, kind, href: shown === undefined ? href : `${home}/${encodeURIComponent(shown)}${href}` }
    })
}

/** Merges the entries about the same part of the reference in several versions. */
function mergeVersions(versions: readonly VersionIndex[], home: string): SearchEntry[] {
  const all = versions
    .toReversed()
    .flatMap((index) =>
      referenceEntries(index, home).map((entry) => ({ ...entry, version: index.view.version })),
    )
  const groups = groupBy(all, ({ title, kind, href }) => JSON.stringify([title, kind, href]))
  return [...groups.values()].map((same) => {
    const { title, kind, href } = same[0]!
    const lines = groupBy(
      same.flatMap(({ version, lines }) => lines.map((line) => ({ line, version }))),
      ({ line }) => line,
    )
    return {
      title,
      kind,
      href,
      versions: same.map(({ version }) => version),
      lines: [...lines].map(([line, found]) =>
        found.length === same.length ? line : ([line, found.map(({ version }) => version)] as const),
      ),
    }
  })
}

/** Returns the search library in a form that pages can load directly. */
export function readSearchLibrary(): string {
  const text = readPackageFile('minisearch', 'dist/es/index.js', 'dist/umd/index.js')
  return text.replace(/\n\/\/# sourceMappingURL.*\s*$/, '\n')
}

interface FoundText extends Omit<SearchEntry, 'versions' | 'lines'> {
  readonly lines: readonly string[]
}

/** Indexes a page that is written in Markdown, and each of its sections. */
function guideEntries(
  { path, title, description, contentHtml, markdown }: SitePage,
  home: string,
): SearchEntry[] {
  if (markdown === undefined) return []
  const href = `${home}/${path}`
  const [lead = '', ...sections] = markdown
    .replace(FENCED, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replaceAll('|', ' ')
    .split(/^##+ /m)
  const whole = { title, kind: 'Guide', href, versions: [], lines: linesOf(description, lead) }
  // Migration guides repeat the changelog.
  if (path.startsWith(UPGRADING)) return [whole]
  const anchors = new Map(
    Array.from(contentHtml.matchAll(HEADING), ([, id = '', heading = '']) => [
      linesOf(heading).join(' '),
      id,
    ]),
  )
  return [
    whole,
    ...sections.map((section) => {
      const [heading = '', ...lines] = section.split('\n')
      const plain = heading.trim()
      return {
        title: plain,
        kind: title,
        href: `${href}#${anchors.get(plain) ?? anchorOf(plain)}`,
        versions: [],
        lines: linesOf(lines.join('\n')),
      }
    }),
  ]
}

const UPGRADING = 'upgrading/'

const HEADING = /<h[2-6] id="([^"]*)">(.*?)<\/h[2-6]>/g

/** Code samples. They are not indexed, because they repeat words from the reference. */
export const FENCED = /^```[\s\S]*?^```$/gm

function referenceEntries({ view, operations }: VersionIndex, docs: string): FoundText[] {
  const home = `${docs}/${encodeURIComponent(view.version)}`
  const ids = new Map([...operations].map(([id, each]) => [each, id]))
  const shared = view.schemas.map((each) => schemaEntry(each, 'Shared schemas'))
  const { parameters, headers, eventHeaders, errors, sharedResponses, security } = view
  const common = [
    parameters.flatMap(({ fields }) => fields.map(fieldText)),
    [...headers, ...eventHeaders].map(fieldText),
    [...security, ...sharedResponses].map((each) => each.textHtml),
  ]
  const entries = [
    {
      title: 'Requests and responses',
      kind: 'Reference',
      href: `${home}/${CONVENTIONS}`,
      lines: linesOf(common),
    },
    ...errors.map((each) => ({
      title: each.code,
      kind: 'Error',
      href: `${home}#${each.id}`,
      lines: linesOf(each.textHtml, `${each.statuses} ${each.types}`),
    })),
    ...shared,
    ...view.tags.flatMap((tag) => [
      { title: tag.title, kind: 'Reference', href: tag.href, lines: linesOf(tag.textHtml) },
      ...tag.operations.map((each) => ({
        title: each.title,
        kind: tag.title,
        href: each.href,
        lines: linesOf(`${each.method} ${each.pathHtml}`, ids.get(each), operationText(each)),
      })),
      ...tag.schemas.map((each) => schemaEntry(each, `${tag.title}, object`)),
      ...tag.events.map((each) => ({
        title: each.name,
        kind: `${tag.title}, event`,
        href: each.href,
        lines: linesOf(
          each.textHtml,
          each.headers.map(fieldText),
          each.payload?.inside && insideText(each.payload.inside),
        ),
      })),
    ]),
  ]
  return entries.map((each) => ({ ...each, href: each.href.slice(home.length) }))
}

const schemaEntry = (each: SchemaView, kind: string): FoundText => ({
  title: each.name,
  kind,
  href: each.href,
  lines: linesOf(each.textHtml, insideText(each), each.values.map(valueText)),
})

/** Each text is one line or several. */
type Texts = string | undefined | readonly Texts[]

const operationText = ({ textHtml, groups, body }: OperationView): Texts => [
  textHtml,
  groups.flatMap(({ fields }) => fields.map(fieldText)),
  body?.inside && insideText(body.inside),
]

/** Collects names, descriptions and members at any depth. */
const insideText = ({
  textHtml,
  fields,
  variants,
}: Pick<InsideView, 'textHtml' | 'fields' | 'variants'>): Texts => [
  textHtml,
  fields.map(fieldText),
  variants.map((each) => [`${each.titleHtml}: ${each.textHtml}`, each.fields.map(fieldText)]),
]

const fieldText = ({ name, textHtml, values, inside }: FieldView): Texts => [
  `${name}: ${textHtml}`,
  values.map(valueText),
  inside && insideText(inside),
]

const valueText = ({ valueHtml, meaningHtml }: ValueView): string =>
  meaningHtml === undefined ? valueHtml : `${valueHtml}: ${meaningHtml}`

const joined = (texts: Texts): string =>
  typeof texts === 'object' ? texts.map(joined).join('\0') : (texts ?? '')

/** Returns texts without markup, each once. */
function linesOf(...texts: readonly Texts[]): string[] {
  const lines = decode(joined(texts).replace(/<[^>]*>/g, ''))
    .split(/\0|\n\n/)
    .map((line) => line.replace(/\s+/g, ' ').trim())
  return [...new Set(lines.filter((line) => line !== ''))]
}

/** Returns each word once, because word counts are not worth the index size. */
function uniqueWords(lines: readonly SearchLine[]): string {
  const words = lines.flatMap((line) => (typeof line === 'string' ? line : line[0]).split(' '))
  return [...new Set(words)].join(' ')
}
