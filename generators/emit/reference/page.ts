/** The context for all views of one version: the document, the page of each schema, and addresses. */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { fragment } from './html.ts'
import { type Home, placeSchemas, writtenSchemas } from './references.ts'

export interface ReferencePage {
  readonly api: Api
  readonly wire: Wire
  readonly homes: ReadonlyMap<string, Home>
  /** Names of the schemas that callers send, directly or within others. */
  readonly writable: ReadonlySet<string>
  /** Languages of the sample requests; the first is shown by default. */
  readonly languages: readonly Language[]
  /** By name of a parameter or body property: the shell variable that samples read its value from. */
  readonly variables: Readonly<Record<string, string>>
  /** The shell variable in which samples store the `id` of the response; undefined if no later sample needs it. */
  readonly keep: string | undefined
  /** Whether the view shows a request. In responses, properties are not marked as required. */
  readonly written: boolean
  /**
   * Returns the anchor of a link target: `schema-Book`, `createBook`, `error-not_found`. Anchors are
   * unique across all pages of a version.
   *
   * @param label used in the anchor instead of a name that is hard to read.
   */
  anchor(kind: AnchorKind, name: string, label?: string): string
  /** Returns the page and anchor of a target. */
  href(kind: AnchorKind, name: string, label?: string): string
  tagHref(tag: string): string
  /** Returns a unique anchor for an element that nothing links to. */
  freshAnchor(text: string): string
}

/** Prints sample requests in one language. */
export interface Language {
  readonly title: string
  /** Its name after the fence of a code block in Markdown. */
  readonly fence: string
  /** Whether the Markdown of reference pages has it too. Language models translate the others themselves. */
  readonly inMarkdown: boolean
  print(page: ReferencePage, operation: ApiOperation): string
}

export type AnchorKind =
  | 'operation'
  | 'schema'
  | 'event'
  | 'error'
  | 'tag'
  | 'security'
  | 'header'
  | 'response'

/** Pages other than those of tags. A tag with one of these names gets a number. */
export const CONVENTIONS = 'conventions'
export const SHARED_SCHEMAS = 'schemas'
export const WEBHOOK_EVENTS = 'webhook-events'

/** @param home address of the version's first page. */
export function createPage(
  api: Api,
  wire: Wire,
  home: string,
  languages: readonly Language[],
): ReferencePage {
  const known = new Map<string, string>()
  const fresh = uniqueNames()
  const homes = placeSchemas(api)
  const anchor = (kind: AnchorKind, name: string, label = name) => {
    const key = `${kind} ${name}`
    const id = known.get(key) ?? fresh(kind === 'operation' ? label : `${kind}-${label}`)
    known.set(key, id)
    return id
  }
  const slugs = slugsOf(api)
  const tagHref = (tag: string) => `${home}/${slugs.get(tag) ?? SHARED_SCHEMAS}`
  const pages = pagesOf(api, homes)
  // Operations and schemas first, so that links from outside have anchors without a number.
  for (const { id } of api.operations) anchor('operation', id)
  for (const name of api.schemas.keys()) anchor('schema', name)
  return {
    api,
    wire,
    homes,
    languages,
    variables: {},
    keep: undefined,
    writable: writtenSchemas(api),
    written: true,
    anchor,
    href: (kind, name, label) => {
      const tag = pages.get(`${kind} ${name}`)
      const page =
        tag !== undefined ? tagHref(tag) : `${home}/${kind === 'schema' ? SHARED_SCHEMAS : CONVENTIONS}`
      return `${page}#${anchor(kind, name, label)}`
    },
    tagHref,
    freshAnchor: fresh,
  }
}

/** Returns a function that converts texts to unique fragments. */
function uniqueNames(taken = new Set<string>()): (text: string) => string {
  return (text) => {
    const wanted = fragment(text) || 'part'
    let id = wanted
    for (let n = 2; taken.has(id); n++) id = `${wanted}-${n}`
    taken.add(id)
    return id
  }
}

/** Maximum length of a page name, because it becomes a file name. */
const LONGEST = 80

/** Returns the last part of the address of each tag's page. */
function slugsOf(api: Api): ReadonlyMap<string, string> {
  const fresh = uniqueNames(new Set([CONVENTIONS, SHARED_SCHEMAS, WEBHOOK_EVENTS]))
  return new Map(
    tagsOf(api).map((tag) => [tag, fresh(tag.toLowerCase().replaceAll('_', '-').slice(0, LONGEST))]),
  )
}

/** Returns the names of tags with operations or events, in document order. */
export function tagsOf({ tags, operations, events }: Api): string[] {
  const used = new Set([...operations, ...events].map(({ tag }) => tag))
  return [...new Set([...tags.map(({ name }) => name), ...used])].filter((name) => used.has(name))
}

/** Maps each operation, event and schema to the tag whose page describes it. */
function pagesOf(api: Api, homes: ReadonlyMap<string, Home>): ReadonlyMap<string, string> {
  const pages = new Map<string, string>()
  for (const { id, tag } of api.operations) pages.set(`operation ${id}`, tag)
  for (const { name, tag } of api.events) pages.set(`event ${name}`, tag)
  const tagOf = (name: string): string | undefined => {
    const home = homes.get(name)
    if (home?.kind === 'tag') return home.tag
    if (home?.kind === 'operation') return pages.get(`operation ${home.id}`)
    if (home?.kind === 'event') return pages.get(`event ${home.name}`)
    return home?.kind === 'nested' ? tagOf(home.within) : undefined
  }
  for (const name of api.schemas.keys()) {
    const tag = tagOf(name)
    if (tag !== undefined) pages.set(`schema ${name}`, tag)
  }
  return pages
}

/** Returns the same page context, for showing requests or responses. */
export function showing(page: ReferencePage, direction: 'written' | 'read'): ReferencePage {
  return { ...page, written: direction === 'written' }
}
