/** Converts text from a document to HTML. Only this file and the Markdown renderer create `SafeHtml`. */

/** Markup that can be printed without escaping. */
export type SafeHtml = string & { readonly html: unique symbol }

/** Escapes text for element content and quoted attributes. */
export function escapeHtml(text: string): SafeHtml {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;') as SafeHtml
}

/** Escapes text for the content of a `pre`, where quotes are frequent and need no escaping. */
export function escapeCode(text: string): SafeHtml {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') as SafeHtml
}

/** Template tag that escapes inserted strings. `SafeHtml` values wrapped in `[…]` are inserted unchanged. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | readonly [SafeHtml])[]
): SafeHtml {
  const filled = parts.map((part, index) => {
    const value = values[index]
    if (value === undefined) return part
    return part + (typeof value === 'string' ? escapeHtml(value) : value[0])
  })
  return filled.join('') as SafeHtml
}

/** Joins parts with an escaped separator. */
export function joinHtml(parts: readonly SafeHtml[], between: string): SafeHtml {
  return parts.join(escapeHtml(between)) as SafeHtml
}

export function code(text: string): SafeHtml {
  return html`<code>${text}</code>`
}

/** Formats a value as JSON, as in a request. */
export function jsonCode(value: unknown): SafeHtml {
  return code(JSON.stringify(value) ?? 'undefined')
}

/** Formats a value as text, with strings unquoted. */
export function scalarCode(value: unknown): SafeHtml {
  return typeof value === 'string' ? code(value) : jsonCode(value)
}

/** Returns a valid fragment identifier: `created[gte]` → `created-gte`. */
export function fragment(text: string): string {
  return text.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^-+|-+$/g, '')
}
