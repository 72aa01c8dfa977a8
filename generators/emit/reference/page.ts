/** What every view of one version is made with: the document, where its schemas are written out, and its addresses. */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api, ApiOperation } from '../../ir/model.ts'
import { fragment } from './html.ts'
import { type Home, placeSchemas, writtenSchemas } from './references.ts'

export interface ReferencePage {
  readonly api: Api
  readonly wire: Wire
  readonly homes: ReadonlyMap<string, Home>
  /** Names of the schemas that callers write, directly or within others. */
  readonly writable: ReadonlySet<string>
  /** What requests are shown in, the first one open. */
  readonly languages: readonly Language[]
  /** Variables of the reader's shell that samples read in place of a parameter or a property of the body, by its name. */
  readonly variables: Readonly<Record<string, string>>
  /** The variable of the shell in which samples keep the `id` of the answer; undefined where no later sample needs it. */
  readonly keep: string | undefined
  /** Whether what is being shown is written by the caller; what is only read is never called required. */
  readonly written: boolean
  /**
   * The anchor of a thing that others link to: `schema-Book`, `createBook`, `error-not_found`. No two pages of a version
   * have one in common.
   * @param label stands in the anchor in place of a name that would not read well.
   */
  anchor(kind: AnchorKind, name: string, label?: string): string
  /** The address of such a thing: of its page, and its anchor there. */
  href(kind: AnchorKind, name: string, label?: string): string
  /** The address of the page of a tag. */
  tagHref(tag: string): string
  /** An anchor for something that nothing links to: made unique when it is taken. */
  freshAnchor(text: string): string
}

/** How a request is written in some language. */
export interface Language {
  readonly title: string
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

/** Pages beside those of tags. A tag of such a name has a number after it. */
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
  // Before anything else, so that what is linked to from outside keeps its plain name.
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

/** @returns what gives each text a legal fragment of its own. */
function uniqueNames(taken = new Set<string>()): (text: string) => string {
  return (text) => {
    const wanted = fragment(text) || 'part'
    let id = wanted
    for (let n = 2; taken.has(id); n++) id = `${wanted}-${n}`
    taken.add(id)
    return id
  }
}

/** Of a name that becomes one of a file. */
const LONGEST = 80

/** @returns the last part of the address of each tag's page. */
function slugsOf(api: Api): ReadonlyMap<string, string> {
  const fresh = uniqueNames(new Set([CONVENTIONS, SHARED_SCHEMAS, WEBHOOK_EVENTS]))
  return new Map(
    tagsOf(api).map((tag) => [tag, fresh(tag.toLowerCase().replaceAll('_', '-').slice(0, LONGEST))]),
  )
}

/** @returns names of tags that have operations or events, as the document orders them. */
export function tagsOf({ tags, operations, events }: Api): string[] {
  const used = new Set([...operations, ...events].map(({ tag }) => tag))
  return [...new Set([...tags.map(({ name }) => name), ...used])].filter((name) => used.has(name))
}

/** @returns the tag on whose page a thing stands. */
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

/** @returns the same page, for showing what the caller writes or what it reads. */
export function showing(page: ReferencePage, direction: 'written' | 'read'): ReferencePage {
  return { ...page, written: direction === 'written' }
}
