/** Names in generated code for declarations of a document. */

/** `book_lists` → `BookLists`. All characters except letters and digits separate words. */
export function pascalCase(text: string): string {
  return words(text)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

export function camelCase(text: string): string {
  const pascal = pascalCase(text)
  return pascal.charAt(0).toLowerCase() + pascal.slice(1)
}

export function snakeCase(text: string): string {
  return words(text.replace(/([a-z0-9])([A-Z])/g, '$1 $2'))
    .map((word) => word.toLowerCase())
    .join('_')
}

function words(text: string): string[] {
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
}

const RESERVED = new Set(
  'break case catch class const continue debugger default delete do else enum export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield await arguments eval undefined'.split(
    ' ',
  ),
)

/**
 * Characters that are safe in identifiers. Only letters of long-standing scripts are included, because an older
 * engine or compiler rejects identifiers with letters that its Unicode tables lack.
 */
const COMMON =
  /[\w$]|(?=\p{ID_Continue})[\u00c0-\u024f\u0370-\u04ff\u05d0-\u05ea\u0620-\u064a\u0904-\u0939\u0e01-\u0e30\u1e00-\u1fff\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3]/u

/**
 * Converts any text to an identifier: `3d_secure` → `_3d_secure`, `delete` → `delete_`, `account.id` →
 * `account_id`.
 */
export function identifier(text: string): string {
  const safe = text.replace(/./gsu, (letter) => (COMMON.test(letter) ? letter : '_'))
  if (!/^[\p{ID_Start}_$]/u.test(safe)) return `_${safe}`
  return RESERVED.has(safe) ? `${safe}_` : safe
}
