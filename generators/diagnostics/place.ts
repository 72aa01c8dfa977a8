/** Source locations in documents. */

/** A position in a document: 1-based line and column, and the JSON pointer (RFC 6901) of the node. */
export interface SourceLocation {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly pointer: string
}

/** Returns a location under a different pointer. Its line is computed only if a finding needs it. */
export const placeAs = (place: SourceLocation, pointer: string): SourceLocation => ({
  file: place.file,
  get line() {
    return place.line
  },
  get column() {
    return place.column
  },
  pointer,
})
