/** Differences between two adjacent versions: located, classified, and reported once per location. */

import type { SourceLocation } from '../diagnostics/place.ts'
import type { Scalar } from '../ir/model.ts'
import type { Stability } from '../ir/stability.ts'

/** Requests go from the old version to the new one; responses and events go from the new version to the old one. */
export type MessageDirection = 'request' | 'response'

/**
 * `additive`: needs no change, because the toolkit derives the translation (new properties are dropped on the way
 * down, and optional ones may be missing). `breaking`: a change in `versions/` must account for it. `alpha`: breaks
 * callers, but in a part that is alpha in the old version, which may break without a change.
 */
export type DifferenceClass = 'additive' | 'alpha' | 'breaking'

/** A location in the new document, or in the old one if only that has it. */
export type DeclaredLocation =
  /**
   * `path` is inside the component: `category_code`, `items[].x`, `labels{}` for the values of a map; empty for the
   * component itself.
   */
  | { readonly kind: 'schema'; readonly component: string; readonly path: string }
  | {
      readonly kind: 'parameter'
      readonly operation: string
      readonly in: 'path' | 'query' | 'header' | 'cookie'
      readonly name: string
      readonly path: string
    }
  /** The operation itself: its existence, path, method, id. */
  | { readonly kind: 'operation'; readonly operation: string }
  | { readonly kind: 'body'; readonly operation: string; readonly path: string }
  | { readonly kind: 'response'; readonly operation: string; readonly status: string; readonly path: string }
  | {
      readonly kind: 'response-header'
      readonly operation: string
      readonly status: string
      readonly name: string
      readonly path: string
    }
  /** The security requirements. */
  | { readonly kind: 'security'; readonly operation: string }
  /** An extension of the operation: `x-rate-limit`, `x-plan`. */
  | { readonly kind: 'extension'; readonly operation: string; readonly name: string }
  | { readonly kind: 'event'; readonly event: string; readonly path: string }
  | { readonly kind: 'event-header'; readonly event: string; readonly name: string; readonly path: string }
  | { readonly kind: 'security-scheme'; readonly name: string }
  /** The servers of the document, or those of an operation that has its own. */
  | { readonly kind: 'servers' }
  | { readonly kind: 'servers'; readonly operation: string }

/** All codes. generators/findings.md documents them. */
export type DifferenceCode =
  // operations
  | 'operation-added'
  | 'operation-removed'
  | 'operation-renamed'
  | 'path-changed'
  | 'method-changed'
  | 'deprecated'
  | 'stability-lowered'
  | 'stability-raised'
  | 'server-added'
  | 'server-removed'
  // parameters and headers
  | 'parameter-added'
  | 'parameter-added-required'
  | 'parameter-removed'
  | 'parameter-required'
  | 'parameter-optional'
  | 'path-parameter-renamed'
  | 'filter-changed'
  | 'serialization-changed'
  | 'header-added'
  | 'header-removed'
  | 'header-required'
  | 'header-optional'
  // bodies and responses
  | 'body-added'
  | 'body-added-required'
  | 'body-removed'
  | 'body-required'
  | 'body-optional'
  | 'content-type-added'
  | 'content-type-removed'
  | 'encoding-changed'
  | 'status-added'
  | 'status-removed'
  // access and limits
  | 'security-tightened'
  | 'security-loosened'
  | 'security-scheme-changed'
  | 'security-scheme-removed'
  | 'requirement-tightened'
  | 'requirement-loosened'
  | 'limit-changed'
  | 'pagination-changed'
  // events
  | 'event-added'
  | 'event-removed'
  | 'payload-added'
  | 'payload-removed'
  | 'payload-optional'
  | 'callback-url-changed'
  // schemas
  | 'property-added'
  | 'property-added-required'
  | 'property-removed'
  | 'property-required'
  | 'property-optional'
  | 'access-changed'
  | 'object-closed'
  | 'object-opened'
  | 'map-added'
  | 'map-removed'
  | 'type-changed'
  | 'type-narrowed'
  | 'type-widened'
  | 'null-added'
  | 'null-removed'
  | 'enum-value-added'
  | 'enum-value-removed'
  | 'enum-opened'
  | 'enum-closed'
  | 'bound-tightened'
  | 'bound-loosened'
  | 'pattern-added'
  | 'pattern-removed'
  | 'pattern-changed'
  | 'format-added'
  | 'format-removed'
  | 'format-changed'
  | 'default-added'
  | 'default-removed'
  | 'default-changed'
  | 'union-member-added'
  | 'union-member-removed'
  | 'union-member-retagged'
  | 'discriminator-changed'
  | 'items-checked-changed'
  | 'keyword-added'
  | 'keyword-removed'
  | 'keyword-changed'

/** The probable cause of a difference, which a person confirms by writing the change. */
export interface Proposal {
  readonly kind: 'rename' | 'split' | 'merge' | 'move'
  readonly from: readonly string[]
  readonly to: readonly string[]
  /** Reasons for the proposal: `same shape`, `both names contain categories`, `same examples`. */
  readonly evidence: readonly string[]
  /** Source location of the replacement in the new document. */
  readonly place?: SourceLocation
  /** Location of the replacement, as differences are located. */
  readonly at?: DeclaredLocation
  /** Paths inside one component, for moves. */
  readonly moves?: readonly { readonly from: readonly string[]; readonly to: readonly string[] }[]
}

export interface Difference {
  readonly code: DifferenceCode
  /** The worst class of all directions. */
  readonly class: DifferenceClass
  readonly at: DeclaredLocation
  /** The stability of the part in the old version, if it is not stable. */
  readonly stability?: Exclude<Stability, 'stable'>
  /** Directions in which both documents use the location. */
  readonly directions: readonly MessageDirection[]
  /** The directions in which it is breaking. */
  readonly breaks: readonly MessageDirection[]
  readonly message: string
  readonly old?: SourceLocation
  readonly new?: SourceLocation
  /**
   * The added or removed member of an enumeration or tag of a union, the old name of a discriminator, or the old
   * default.
   */
  readonly value?: Scalar
  /** Whether the old document requires the removed property. */
  readonly required?: boolean
  /** The components that a reference names, if it names a different one than before. */
  readonly components?: { readonly old: string; readonly new: string }
  /** Ids of operations and names of events that use the location, in the order of the new document. */
  readonly uses: readonly string[]
  readonly proposal?: Proposal
}

/** Formats a location: `Book.category_code`, `listBooks ?reason`, `event book.created header X`. */
export function formatLocation(at: DeclaredLocation): string {
  const inside = 'path' in at && at.path !== '' ? `.${at.path}`.replace(/^\.([[{|])/, '$1') : ''
  switch (at.kind) {
    case 'schema':
      return `${at.component}${inside}`
    case 'parameter':
      return `${at.operation} ${at.in} ${at.name}${inside}`
    case 'operation':
      return at.operation
    case 'body':
      return `${at.operation} body${inside}`
    case 'response':
      return `${at.operation} ${at.status}${inside}`
    case 'response-header':
      return `${at.operation} ${at.status} header ${at.name}${inside}`
    case 'security':
      return `${at.operation} security`
    case 'extension':
      return `${at.operation} ${at.name}`
    case 'event':
      return `event ${at.event}${inside}`
    case 'event-header':
      return `event ${at.event} header ${at.name}${inside}`
    case 'security-scheme':
      return `security scheme ${at.name}`
    case 'servers':
      return 'operation' in at ? `${at.operation} servers` : 'servers'
  }
}
