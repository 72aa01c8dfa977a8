/**
 * Composes generated code that refers to functions which are named later. Code is a sequence of texts and
 * references. References are not marked within the text, so text from a document can never be mistaken for one.
 */

/** A name that a piece of code refers to. */
export type CodeReference =
  /** The function of a component. */
  | { readonly component: string }
  /** The function being generated, or a numbered part of it. */
  | { readonly self: number }
  /** Additional parameters, which the function passes to its parts. */
  | { readonly given: true }

/** Texts and references, nested as composed. */
export type Code = string | CodeReference | readonly Code[]

/** Composes code: `` code`if (${condition}) return false` ``. */
export function code(texts: TemplateStringsArray, ...inside: readonly Code[]): Code {
  return texts.flatMap((text, index): readonly Code[] => (index === 0 ? [text] : [inside[index - 1]!, text]))
}

/** Joins pieces with a separator. */
export function joinCode(pieces: readonly Code[], separator: string): Code {
  return pieces.flatMap((piece, index) => (index === 0 ? [piece] : [separator, piece]))
}

/** Returns the text of code, with a name for each reference. */
export function printCode(piece: Code, nameOf: (reference: CodeReference) => string): string {
  if (typeof piece === 'string') return piece
  if (isReference(piece)) return nameOf(piece)
  return piece.map((each) => printCode(each, nameOf)).join('')
}

/** Returns a key that is equal for two pieces of code only if their text and references are equal. */
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
