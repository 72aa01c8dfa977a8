/**
 * Code that names what has no name yet. It is text and references side by side, never marks within text, so that
 * nothing a document says can be taken for a reference.
 */

/** What a piece of code refers to. */
export type CodeReference =
  /** The function of a component. */
  | { readonly component: string }
  /** The function that the code makes, or a numbered part of it. */
  | { readonly self: number }
  /** Further parameters, which the function and its parts hand on. */
  | { readonly given: true }

/** Text with references; nested as it was composed. */
export type Code = string | CodeReference | readonly Code[]

/** Composes code: `` code`if (${condition}) return false` ``. */
export function code(texts: TemplateStringsArray, ...inside: readonly Code[]): Code {
  return texts.flatMap((text, index): readonly Code[] => (index === 0 ? [text] : [inside[index - 1]!, text]))
}

/** @returns pieces with a separator between each two. */
export function joinCode(pieces: readonly Code[], separator: string): Code {
  return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [separator, piece]))
}

/** @returns the text of code, where every reference has its name. */
export function printCode(piece: Code, nameOf: (reference: CodeReference) => string): string {
  if (typeof piece === 'string') return piece
  if (isReference(piece)) return nameOf(piece)
  return piece.map((each) => printCode(each, nameOf)).join('')
}

/** @returns text that is equal for code that says the same and refers to the same, and for no other. */
export function codeKey(piece: Code): string {
  const parts: (string | CodeReference)[] = []
  const collect = (each: Code): void => {
    if (typeof each !== 'string' && !isReference(each)) each.forEach(collect)
    else if (typeof each === 'string' && typeof parts.at(-1) === 'string') parts.push(`${parts.pop()}${each}`)
    else parts.push(each)
  }
  collect(piece)
  return JSON.stringify(parts)
}

const isReference = (piece: CodeReference | readonly Code[]): piece is CodeReference => !Array.isArray(piece)
