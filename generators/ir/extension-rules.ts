/** What a family of documents says of its own `x-` members. */

/** Kinds of nodes that have rules. */
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
  /** Extensions of an operation that hold for all its versions: the newest document that has the operation declares them. */
  readonly canonical: ReadonlySet<string>
  /** Extensions of schemas that an operation inherits where its success may answer with such a schema. */
  readonly inherited: ReadonlySet<string>
}
