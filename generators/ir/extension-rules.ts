/** The rules that a family of documents sets for its `x-` members. */

/** Kinds of nodes that can have rules. */
export const KINDS = [
  'document',
  'info',
  'tag',
  'operation',
  'canonicalOperation',
  'event',
  'parameter',
  'schema',
] as const

export type ExtensionKind = (typeof KINDS)[number]

export interface ExtensionRules {
  /** One JSON Schema per kind of node. */
  readonly schemas: Readonly<Partial<Record<ExtensionKind, unknown>>>
  /** Operation extensions that only the newest document with the operation declares, for all versions. */
  readonly canonical: ReadonlySet<string>
  /** Schema extensions that an operation inherits if its success response may contain the schema. */
  readonly inherited: ReadonlySet<string>
}
