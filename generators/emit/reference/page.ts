/** What every view of one page is made with: the document, where its schemas are written out, and its anchors. */
import type { Wire } from '../../client-runtime/service.ts'
import type { Api } from '../../ir/model.ts'
import { fragment } from './html.ts'
import { type Home, placeSchemas, writtenSchemas } from './references.ts'

export interface Page {
  readonly api: Api
  readonly wire: Wire
  readonly homes: ReadonlyMap<string, Home>
  /** Names of the schemas that callers write, directly or within others. */
  readonly writable: ReadonlySet<string>
  /** Whether what is being shown is written by the caller; what is only read is never called required. */
  readonly written: boolean
  /**
   * The anchor of a thing that others link to: `schema-Book`, `createBook`, `error-not_found`.
   * @param label stands in the anchor in place of a name that would not read well.
   */
  anchor(kind: AnchorKind, name: string, label?: string): string
  /** An anchor for something that nothing links to: made unique when it is taken. */
  freshAnchor(text: string): string
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

export function createPage(api: Api, wire: Wire): Page {
  const known = new Map<string, string>()
  const taken = new Set<string>()
  const fresh = (text: string) => {
    const wanted = fragment(text) || 'part'
    let id = wanted
    for (let n = 2; taken.has(id); n++) id = `${wanted}-${n}`
    taken.add(id)
    return id
  }
  const anchor = (kind: AnchorKind, name: string, label = name) => {
    const key = `${kind} ${name}`
    const id = known.get(key) ?? fresh(kind === 'operation' ? label : `${kind}-${label}`)
    known.set(key, id)
    return id
  }
  // Before anything else, so that what is linked to from outside keeps its plain name.
  for (const { id } of api.operations) anchor('operation', id)
  for (const name of api.schemas.keys()) anchor('schema', name)
  return {
    api,
    wire,
    homes: placeSchemas(api),
    writable: writtenSchemas(api),
    written: true,
    anchor,
    freshAnchor: fresh,
  }
}

/** @returns the same page, for showing what the caller writes or what it reads. */
export function showing(page: Page, direction: 'written' | 'read'): Page {
  return { ...page, written: direction === 'written' }
}
