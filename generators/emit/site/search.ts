/** Builds the search index, which the pages' own script loads. */
import MiniSearch from 'minisearch'
import { readPackageFile } from '../../assets/assets.ts'
import { CONVENTIONS } from '../reference/page.ts'
import type { FieldView, InsideView, OperationView, SchemaView, ValueView } from '../reference/views.ts'
import type { SitePage } from './frame.ts'
import { anchorOf } from './page-markdown.ts'
import type { VersionIndex } from './version-pages.ts'

interface SearchEntry {
  readonly id: number
  readonly title: string
  readonly kind: string
  readonly href: string
  readonly text: string
}

const ASSIGNMENT = 'globalThis.docsIndex = '

/** Also used by `assets/site.js`. */
const OPTIONS = { fields: ['title', 'text'], storeFields: ['title', 'kind', 'href'] }

/**
 * Returns a script that sets `docsIndex`.
 *
 * @param newest the version whose reference pages are indexed; they link to other versions. Absent if there is no
 *   reference.
 */
export function printSearchIndex(pages: readonly SitePage[], home: string, newest?: VersionIndex): string {
  const index = new MiniSearch<SearchEntry>(OPTIONS)
  const reference = newest ? referenceEntries(newest, home) : []
  const found = [...pages.flatMap((page) => guideEntries(page, home)), ...reference]
  index.addAll(found.map((entry, id) => ({ ...entry, id })))
  return `${ASSIGNMENT}${JSON.stringify(index)}\n`
}

export type SearchHit = Pick<SearchEntry, 'title' | 'kind' | 'href'>

/** Returns the search of pages that have the script. @param script a result of `printSearchIndex`. */
export function openSearch(script: string): (words: string) => readonly SearchHit[] {
  const index = MiniSearch.loadJSON<SearchEntry>(script.slice(ASSIGNMENT.length), OPTIONS)
  return (words) => index.search(words).map(({ title, kind, href }) => ({ title, kind, href }) as SearchHit)
}

/** Returns the search library in a form that pages can load directly. */
export function readSearchLibrary(): string {
  const text = readPackageFile('minisearch', 'dist/es/index.js', 'dist/umd/index.js')
  return text.replace(/\n\/\/# sourceMappingURL.*\s*$/, '\n')
}

type FoundText = Omit<SearchEntry, 'id'>

/** Indexes a hand-written page and each of its sections. */
function guideEntries({ path, title, description, markdown }: SitePage, home: string): FoundText[] {
  if (markdown === undefined) return []
  const href = `${home}/${path}`
  const [lead = '', ...sections] = markdown.replace(FENCED, '').split(/^##+ /m)
  return [
    { title, kind: 'Guide', href, text: wordsOf(`${description} ${lead}`) },
    ...sections.map((section) => {
      const [heading = '', ...lines] = section.split('\n')
      const plain = heading.replace(/[`*]/g, '').trim()
      return { title: plain, kind: title, href: `${href}#${anchorOf(plain)}`, text: wordsOf(lines.join(' ')) }
    }),
  ]
}

/** Code samples. They are not indexed, because they repeat words from the reference. */
export const FENCED = /^```[\s\S]*?^```$/gm

function referenceEntries({ view, operations }: VersionIndex, docs: string): FoundText[] {
  const ids = new Map([...operations].map(([id, each]) => [each, id]))
  const shared = view.schemas.map((each) => schemaEntry(each, 'Shared schemas'))
  const home = `${docs}/${encodeURIComponent(view.version)}`
  const { parameters, headers, eventHeaders, errors, sharedResponses, security } = view
  const common = [
    parameters.flatMap(({ fields }) => fields.map(fieldWords)),
    [...headers, ...eventHeaders].map(fieldWords),
    [...security, ...sharedResponses].map((each) => each.textHtml),
  ]
  return [
    {
      title: 'Requests and responses',
      kind: 'Reference',
      href: `${home}/${CONVENTIONS}`,
      text: wordsOf(common),
    },
    ...errors.map((each) => ({
      title: each.code,
      kind: 'Error',
      href: `${home}#${each.id}`,
      text: wordsOf(each.types, each.statuses, each.textHtml),
    })),
    ...shared,
    ...view.tags.flatMap((tag) => [
      { title: tag.title, kind: 'Reference', href: tag.href, text: wordsOf(tag.summary, tag.textHtml) },
      ...tag.operations.map((each) => ({
        title: each.title,
        kind: tag.title,
        href: each.href,
        text: wordsOf(ids.get(each), each.method, operationWords(each)),
      })),
      ...tag.schemas.map((each) => schemaEntry(each, `${tag.title}, object`)),
      ...tag.events.map((each) => ({
        title: each.name,
        kind: `${tag.title}, event`,
        href: each.href,
        text: wordsOf(
          each.textHtml,
          each.headers.map(fieldWords),
          each.payload?.inside && insideWords(each.payload.inside),
        ),
      })),
    ]),
  ]
}

const schemaEntry = (each: SchemaView, kind: string): FoundText => ({
  title: each.name,
  kind,
  href: each.href,
  text: wordsOf(each.textHtml, insideWords(each), each.values.map(valueWords)),
})

type Words = string | undefined | readonly Words[]

const operationWords = ({ pathHtml, textHtml, groups, body }: OperationView): Words => [
  pathHtml,
  textHtml,
  groups.flatMap(({ fields }) => fields.map(fieldWords)),
  body?.inside && insideWords(body.inside),
]

/** Collects names, descriptions and members at any depth. */
const insideWords = ({
  textHtml,
  fields,
  variants,
}: Pick<InsideView, 'textHtml' | 'fields' | 'variants'>): Words => [
  textHtml,
  fields.map(fieldWords),
  variants.map((each) => [each.titleHtml, each.textHtml, each.fields.map(fieldWords)]),
]

const fieldWords = ({ name, textHtml, values, inside }: FieldView): Words => [
  name,
  textHtml,
  values.map(valueWords),
  inside && insideWords(inside),
]

const valueWords = ({ valueHtml, meaningHtml }: ValueView): Words => [valueHtml, meaningHtml]

const joined = (words: Words): string =>
  typeof words === 'object' ? words.map(joined).join(' ') : (words ?? '')

/** Returns each word once, because word counts are not worth the index size. */
function wordsOf(...texts: readonly Words[]): string {
  const plain = joined(texts)
    .replace(/<[^>]*>/g, '')
    .replace(/&#?\w+;/g, ' ')
    .replace(/\]\([^)]*\)|[`*|]/g, ' ')
  return [...new Set(plain.split(/\s+/))].join(' ')
}
