/** Source locations in documents. */

/** A position in a document: 1-based line and column, and the JSON pointer (RFC 6901) of the node. */
export interface SourceLocation {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly pointer: string
}
