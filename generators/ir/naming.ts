/** Names that generated code gives to things of a document. */

/** `pass_templates` → `PassTemplates`; anything that is no letter or digit separates words. */
export function pascalCase(text: string): string {
  return words(text)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/** `x-rate-limit` → `xRateLimit`. */
export function camelCase(text: string): string {
  const pascal = pascalCase(text)
  return pascal.charAt(0).toLowerCase() + pascal.slice(1)
}

/** `PassTemplates` → `pass_templates`. */
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

/** An identifier for any text: `3d_secure` → `_3d_secure`, `delete` → `delete_`, `account.id` → `account_id`. */
export function identifier(text: string): string {
  const safe = text.replace(/[^\p{L}\p{N}_$]/gu, '_')
  if (safe === '' || /^\p{N}/u.test(safe)) return `_${safe}`
  return RESERVED.has(safe) ? `${safe}_` : safe
}
