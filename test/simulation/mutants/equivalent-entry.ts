/** A fault that changes nothing that anyone can notice. */
export interface Equivalent {
  /** A file, or a folder that ends with a slash. */
  readonly file: string
  /** The change, or its beginning if it ends with `…`. */
  readonly what: string
  /** A part of the statement that the change is in, if the file has the same change elsewhere. */
  readonly sql?: string
  readonly reason: string
}

/** Several faults of a file that change nothing for the same reason. */
export const all = (file: string, reason: string, ...whats: readonly string[]): readonly Equivalent[] =>
  whats.map((what) => ({ file, what, reason }))
