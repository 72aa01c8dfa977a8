/** What `diff` finds between two adjacent versions: located, classified, and reported once per place. */

import type { SourceLocation } from '../diagnostics/place.ts'
import type { Scalar } from '../ir/model.ts'

/** Requests travel up, from the old version to the new; responses and events travel down. */
export type MessageDirection = 'request' | 'response'

/**
 * `additive`: nothing has to be declared, since callers of the old version are served by derivation (what is new is
 * dropped on the way down, what is optional may stay away). `breaking`: a change in `versions/` has to account for it.
 */
export type DifferenceClass = 'additive' | 'breaking'

/** Where something is declared, in the terms of the new document; in those of the old one where only that has it. */
export type DeclaredLocation =
  /** `path` inside the component: `category_code`, `items[].x`, `labels{}` for the values of a map, `` for itself. */
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
  /** Who may call it. */
  | { readonly kind: 'security'; readonly operation: string }
  /** An extension of the operation: `x-rate-limit`, `x-plan`. */
  | { readonly kind: 'extension'; readonly operation: string; readonly name: string }
  | { readonly kind: 'event'; readonly event: string; readonly path: string }
  | { readonly kind: 'event-header'; readonly event: string; readonly name: string; readonly path: string }
  | { readonly kind: 'security-scheme'; readonly name: string }

/** Every code, as documented in the README of the generators. */
export type DifferenceCode =
  // operations
  | 'operation-added'
  | 'operation-removed'
  | 'operation-renamed'
  | 'path-changed'
  | 'method-changed'
  | 'deprecated'
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
  // who may, and how much
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

/** What probably happened, for a person to confirm by writing the change. */
export interface Proposal {
  readonly kind: 'rename' | 'split' | 'merge' | 'move'
  readonly from: readonly string[]
  readonly to: readonly string[]
  /** Why it looks so: `same shape`, `both names say categories`, `same examples`. */
  readonly evidence: readonly string[]
  /** Where what came instead stands in the new document. */
  readonly place?: SourceLocation
  /** The same in the terms of differences. */
  readonly at?: DeclaredLocation
  /** Paths within one component, where something moved there. */
  readonly moves?: readonly { readonly from: readonly string[]; readonly to: readonly string[] }[]
}

export interface Difference {
  readonly code: DifferenceCode
  /** The worst of its directions. */
  readonly class: DifferenceClass
  readonly at: DeclaredLocation
  /** In which the place is used, by what both documents have. */
  readonly directions: readonly MessageDirection[]
  /** Those of `directions` in which it is breaking. */
  readonly breaks: readonly MessageDirection[]
  readonly message: string
  readonly old?: SourceLocation
  readonly new?: SourceLocation
  /** The member of an enumeration, or the tag of a union, that came or went; the old name of a discriminator; the old default. */
  readonly value?: Scalar
  /** Whether the old document requires the property that went. */
  readonly required?: boolean
  /** Where a reference names another component than before. */
  readonly components?: { readonly old: string; readonly new: string }
  /** Ids of operations and names of events that reach it, in the order of the new document. */
  readonly uses: readonly string[]
  readonly proposal?: Proposal
}

/** One location as text: `Book.category_code`, `listBooks ?reason`, `event book.created header X`. */
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
  }
}
